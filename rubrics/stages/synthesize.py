"""Synthesize: choose whom to study, write both rubrics of every task, measure everyone against the study."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from rubrics.authors.author import Author, Brief, StudiedAttempt
from rubrics.authors.builtin import BuiltinAuthor
from rubrics.contrasts.measure import Attempt, Study
from rubrics.environments.session import Environment
from rubrics.errors import InfraError, ModelError
from rubrics.judges.judge import Judge
from rubrics.records.census import CensusLine
from rubrics.records.rubrics import Rubric
from rubrics.records.tasks import Task
from rubrics.rules.digest import rubric_digest
from rubrics.rules.evaluate import RuleEvaluator, measured_table
from rubrics.rules.files import to_yaml
from rubrics.rules.loading import from_yaml
from rubrics.stages import rubric_files
from rubrics.stages.authoring import Desks, with_contents
from rubrics.stages.options import Options
from rubrics.stages.preparing import preparation_config
from rubrics.stages.stage import Chunk
from rubrics.stages.study import Candidate, choose_studied
from rubrics.stages.study_source import DumpSource, StoreSource, StudySource
from rubrics.stages.task_records import task_records
from rubrics.stages.tasks import by_task, task_chunks
from rubrics.store.chunks import Done, Output
from rubrics.store.commit import StageRun
from rubrics.store.store import Store
from rubrics.visible import one_line, shortened

if TYPE_CHECKING:
    from rubrics.models.client import Client

AT_ONCE = 4
"""Tasks of a chunk that a model works on at once; each may have an environment open."""


class Synthesize:
    """Writes `rubrics`, `studies`, `contrasts` and the rubric files of the chosen tasks; others keep theirs, and so
    does a task whose author failed."""

    name = "synthesize"
    reads = ("tasks", "sealed", "rollouts", "transcripts", "outcomes", "facts", "environments")

    def __init__(
        self,
        store: Store,
        options: Options,
        model: Client | None = None,
        environment: Environment | None = None,
        judge: Judge | None = None,
        left_out: Collection[str] = (),
    ) -> None:
        """With `model` it is the author; `environment` is where it reads repositories, `judge` tries its questions.
        Tasks in `left_out` are not looked at."""
        self._store = store
        self._options = options
        self._model = model
        self._environment = environment
        self._judge = judge
        self._source: StudySource = DumpSource(options) if options.study_from else StoreSource(store)
        self._chunks = list(task_chunks(store, options, left_out))

    @property
    def apart(self) -> bool:
        """Without a model it can be done in other processes."""
        return self._model is None

    def chunks(self) -> Iterable[Chunk]:
        return self._chunks

    def work(self, out: Output, chunk: Chunk) -> int:
        texts: list[list[str]] = []
        failed: list[str] = []
        candidates = self._source.attempts(chunk.items)
        tasks = task_records(self._store, list(chunk.items))
        facts = by_task(self._rows("facts", chunk))

        def one(author: Author, task_id: str) -> None:
            brief = _brief(task_id, tasks[task_id][0] if task_id in tasks else None)
            done = self._one_task(out, author, brief, candidates[task_id], facts[task_id])
            if done is None:
                failed.append(task_id)
            else:
                texts.append(done)

        if self._model is None:
            with RuleEvaluator() as evaluator:
                author = BuiltinAuthor(partial(_evaluated, evaluator))
                for task_id in chunk.items:
                    one(author, task_id)
        else:
            self._by_model(self._model, tasks, chunk, one, partial(_note, out))
        out.keep("texts", sorted(text for found in texts for text in found))
        out.keep("failed", sorted(failed))
        return chunk.rollouts

    def _by_model(
        self,
        model: Client,
        tasks: Mapping[str, Any],
        chunk: Chunk,
        one: Callable[[Author, str], None],
        note: Callable[[str, str, str], None],
    ) -> None:
        from rubrics.authors.model_author import ModelAuthor

        desks = Desks(tasks, self._environment, preparation_config(self._options.config))
        author = ModelAuthor(model, model.run, desks, note, self._judge)
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="author") as pool:
            list(pool.map(partial(one, author), chunk.items))

    def _rows(self, table: str, chunk: Chunk) -> list[dict[str, Any]]:
        return self._store.rows(table, where="task_id IN (SELECT unnest($ids))", ids=list(chunk.items))

    def _one_task(
        self,
        out: Output,
        author: Author,
        brief: Brief,
        candidates: Mapping[Candidate, Mapping[str, Any]],
        facts: list[dict[str, Any]],
    ) -> list[str] | None:
        """Texts of the rubric files that were written; null when the author failed."""
        chosen = choose_studied(list(candidates), self._options.study, self._options.seed)
        if not chosen:
            said = "no attempt with a known outcome: no rubric; give outcomes or run tests"
            _note(out, brief.task_id, "no_study", said)
            return []
        study = Study([Attempt(item.rollout_id, item.outcome == "passed", candidates[item]) for item in chosen])
        digest = study.digest()
        studied = tuple(
            StudiedAttempt(a.rollout_id, a.passed, a.facts, study.contrasts(a.facts)) for a in study.attempts
        )
        try:
            rubrics = self._written_by(author, brief, studied, digest)
        except (ModelError, InfraError) as error:
            said = shortened(one_line(str(error)), 300)
            _note(out, brief.task_id, error.kind, f"no rubric from {author.name}, earlier ones stay: {said}")
            return None
        own = {"study_digest": digest, "task_id": brief.task_id}
        out.append(
            "studies", [{**a.facts, **own, "rollout_id": a.rollout_id, "passed": a.passed} for a in study.attempts]
        )
        out.append("contrasts", [{**own, "rollout_id": row["rollout_id"], **study.contrasts(row)} for row in facts])
        for rubric in rubrics:
            if not rubric.criteria:
                _note(out, brief.task_id, f"empty_{rubric.kind}_rubric", rubric.note)
        if len({attempt.passed for attempt in study.attempts}) < 2:
            left = "guard criteria only" if self._model is None else "no criterion tells passes from failures"
            _note(out, brief.task_id, "no_contrast", f"the studied attempts all passed or all failed: {left}")
        return [to_yaml(rubric) for rubric in rubrics]

    def _written_by(
        self, author: Author, brief: Brief, studied: tuple[StudiedAttempt, ...], digest: str
    ) -> tuple[Rubric, Rubric]:
        if self._model is not None:
            studied = with_contents(studied, self._source.opened([item.rollout_id for item in studied]))
        return author.write(brief, studied, digest)

    def finish(self, run: StageRun, done: Sequence[Done]) -> None:
        failed = {task_id for item in done for task_id in item.kept["failed"]}
        tasks = sorted({task_id for chunk in self._chunks for task_id in chunk.items} - failed)
        written = [from_yaml(text, "rubric", lambda *_: None) for item in done for text in item.kept["texts"]]
        written.sort(key=lambda rubric: (rubric.task_id, rubric.kind))
        for table in ("studies", "contrasts", "rubrics"):
            run.carry(table, "task_id IN (SELECT unnest($tasks))", tasks=tasks)
        prompt = self._prompt_digest()
        run.append("rubrics", [rubric_files.row(rubric, prompt) for rubric in written])
        known = {
            row["rubric_digest"]
            for row in self._store.rows("rubrics", ["rubric_digest", "task_id", "kind"], "author <> 'edited'")
        } | {rubric_digest(rubric) for rubric in written}
        for rubric in written:
            aside = rubric_files.set_edited_aside(self._store.paths, rubric, known)
            if aside:
                detail = f"a file edited by hand was kept as {aside}"
                run.note(CensusLine(self.name, "task", "edited_set_aside", rubric.task_id, detail))
            rubric_files.save(run, self._store.paths, rubric)

    def _prompt_digest(self) -> str | None:
        if self._model is None:
            return None
        from rubrics.authors.model_prompt import digest

        return digest()


def _note(out: Output, task_id: str, kind: str, detail: str) -> None:
    out.note(CensusLine(Synthesize.name, "task", kind, task_id, detail))


def _brief(task_id: str, task: Task | None) -> Brief:
    if task is None:
        return Brief(task_id, None, False)
    return Brief(task_id, task.spec, bool(task.repository or task.image or task.recipe), task)


def _evaluated(
    evaluator: RuleEvaluator, rules: Sequence[str], studied: Sequence[StudiedAttempt]
) -> list[tuple[float | None, ...]]:
    return evaluator.values(rules, measured_table([{**attempt.facts, **attempt.contrasts} for attempt in studied]))
