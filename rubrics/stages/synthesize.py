"""Synthesize: choose whom to study, write both rubrics of every task, measure everyone against the study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from rubrics.authors.author import Author, Brief, StudiedAttempt
from rubrics.authors.builtin import BuiltinAuthor
from rubrics.contrasts.measure import Attempt, Study
from rubrics.records.census import CensusLine
from rubrics.records.rubrics import Rubric
from rubrics.rules.digest import rubric_digest
from rubrics.rules.evaluate import RuleEvaluator, measured_table
from rubrics.stages import rubric_files
from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk, census_rows
from rubrics.stages.study import Candidate, choose_studied
from rubrics.stages.study_source import DumpSource, StoreSource, StudySource
from rubrics.stages.tasks import by_task, task_chunks
from rubrics.store.store import StageRun, Store


class Synthesize:
    """Writes `rubrics`, `studies`, `contrasts` and the rubric files of the chosen tasks; others keep theirs."""

    name = "synthesize"

    def __init__(self, store: Store, options: Options) -> None:
        self._store = store
        self._options = options
        self._source: StudySource = DumpSource(options) if options.study_from else StoreSource(store)
        self._chunks = list(task_chunks(store, options))
        self._written: list[Rubric] = []
        self._census: list[CensusLine] = []

    def chunks(self) -> Iterable[Chunk]:
        return self._chunks

    def work(self, run: StageRun, chunk: Chunk) -> int:
        candidates = self._source.attempts(chunk.items)
        tasks = {row["task_id"]: row for row in self._rows("tasks", chunk)}
        facts = by_task(self._rows("facts", chunk))
        with RuleEvaluator() as evaluator:
            author = BuiltinAuthor(partial(_evaluated, evaluator))
            for task_id in chunk.items:
                self._one_task(run, author, _brief(task_id, tasks.get(task_id)), candidates[task_id], facts[task_id])
        return chunk.rollouts

    def _rows(self, table: str, chunk: Chunk) -> list[dict[str, Any]]:
        return self._store.rows(table, where="task_id IN (SELECT unnest($ids))", ids=list(chunk.items))

    def _one_task(
        self,
        run: StageRun,
        author: Author,
        brief: Brief,
        candidates: Mapping[Candidate, Mapping[str, Any]],
        facts: list[dict[str, Any]],
    ) -> None:
        chosen = choose_studied(list(candidates), self._options.study, self._options.seed)
        if not chosen:
            self._note(
                brief.task_id, "no_study", "no attempt with a known outcome: no rubric; give outcomes or run tests"
            )
            return
        study = Study([Attempt(item.rollout_id, item.outcome == "passed", candidates[item]) for item in chosen])
        digest = study.digest()
        own = {"study_digest": digest, "task_id": brief.task_id}
        run.append(
            "studies", [{**a.facts, **own, "rollout_id": a.rollout_id, "passed": a.passed} for a in study.attempts]
        )
        run.append("contrasts", [{**own, "rollout_id": row["rollout_id"], **study.contrasts(row)} for row in facts])
        studied = tuple(
            StudiedAttempt(a.rollout_id, a.passed, a.facts, study.contrasts(a.facts)) for a in study.attempts
        )
        for rubric in author.write(brief, studied, digest):
            self._written.append(rubric)
            if not rubric.criteria:
                self._note(brief.task_id, f"empty_{rubric.kind}_rubric", rubric.note)
        if len({attempt.passed for attempt in study.attempts}) < 2:
            self._note(
                brief.task_id, "no_contrast", "the studied attempts all passed or all failed: guard criteria only"
            )

    def _note(self, task_id: str, kind: str, detail: str) -> None:
        self._census.append(CensusLine(self.name, "task", kind, task_id, detail))

    def finish(self, run: StageRun) -> None:
        done = {task_id for chunk in self._chunks for task_id in chunk.items}
        for table in ("studies", "contrasts", "rubrics"):
            run.keep(table, "task_id NOT IN (SELECT unnest($done))", done=sorted(done))
        run.append("rubrics", [rubric_files.row(rubric) for rubric in self._written])
        known = {
            row["rubric_digest"]
            for row in self._store.rows("rubrics", ["rubric_digest", "task_id", "kind"], "author <> 'edited'")
        } | {rubric_digest(rubric) for rubric in self._written}
        for rubric in self._written:
            aside = rubric_files.set_edited_aside(self._store.paths, rubric, known)
            if aside:
                self._note(rubric.task_id, "edited_set_aside", f"a file edited by hand was kept as {aside}")
            rubric_files.save(self._store.paths, rubric)
        run.append("census", census_rows(self._census))


def _brief(task_id: str, task: Mapping[str, Any] | None) -> Brief:
    if task is None:
        return Brief(task_id, None, False)
    return Brief(task_id, task["spec"], bool(task["repository"] or task["image"]))


def _evaluated(
    evaluator: RuleEvaluator, rules: Sequence[str], studied: Sequence[StudiedAttempt]
) -> list[tuple[float | None, ...]]:
    return evaluator.values(rules, measured_table([{**attempt.facts, **attempt.contrasts} for attempt in studied]))
