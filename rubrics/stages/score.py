"""Score: every rollout under every criterion of its task's rubrics, as the rubric files say now."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from rubrics.environments.session import Environment
from rubrics.judges import builtin
from rubrics.judges.judge import Judge
from rubrics.records.census import CensusLine
from rubrics.records.judgements import Case, Judgement
from rubrics.records.rubrics import Kind, Rubric
from rubrics.records.verdicts import Verdicts
from rubrics.rules.digest import rubric_digest
from rubrics.rules.evaluate import Checked, RuleEvaluator
from rubrics.stages import judging, rubric_files, running
from rubrics.stages.environments import Opener
from rubrics.stages.measured import measured_tasks, refuse_unmeasured
from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk, census_rows
from rubrics.stages.tasks import task_chunks
from rubrics.store.grade_rows import grade_table
from rubrics.store.store import StageRun, Store


@dataclass(frozen=True, slots=True)
class Bench:
    """A judge that asks a model, and what runs it."""

    judge: Judge
    together: Callable[[Sequence[Callable[[], Awaitable[Judgement]]]], list[Judgement]]
    """Carries out many, as many at once as the client allows, in their order. The first error ends all, and is raised
    when none is under way any more."""
    sampling: str
    """How the model is asked, as JSON."""
    opener: Opener | None = None
    """What opens the environments that the judge enters; null where it enters none."""


class Score:
    """Writes `grades` of the chosen tasks by one judge, and `rubrics` and `contrasts` where they are not up to date;
    with a judge that asks a model also `judgements`, and what its guard question found to `audits`.

    Rules are evaluated here whoever judges. Every rubric file is loaded and checked before anything is scored.
    """

    name = "score"

    def __init__(
        self,
        store: Store,
        options: Options,
        bench: Bench | None = None,
        environment: Callable[[], Environment] | None = None,
    ) -> None:
        """`environment` opens the backend of run criteria; it is called when there are some."""
        self._store = store
        self._options = options
        self._bench = bench
        self._judge = bench.judge.name if bench else builtin.NAME
        self._repeats = options.repeats if bench else 1
        self._chunks = list(task_chunks(store, options))
        refuse_unmeasured(store, [task_id for chunk in self._chunks for task_id in chunk.items])
        self._failures: Counter[tuple[str, str, str]] = Counter()
        self._lock = threading.Lock()
        self._rubrics: dict[str, dict[Kind, Rubric]] = {}
        rows = store.rows("rubrics", ["rubric_digest", "author", "prompt_digest", "task_id", "kind"])
        known = {row["rubric_digest"]: row["author"] for row in rows}
        self._prompts = {row["rubric_digest"]: row["prompt_digest"] for row in rows}
        self._checked: Checked = {}
        with RuleEvaluator(self._checked) as evaluator:
            for chunk in self._chunks:
                for task_id in chunk.items:
                    found = rubric_files.load(store.paths, task_id, evaluator)
                    self._rubrics[task_id] = {kind: rubric_files.by_author(item, known) for kind, item in found.items()}

        entered = environment is not None and any(running.wanted(self._rubrics))
        self._environment = environment() if environment is not None and entered else None

    def chunks(self) -> Iterable[Chunk]:
        return self._chunks

    def work(self, run: StageRun, chunk: Chunk) -> int:
        rubrics = {task_id: self._rubrics[task_id] for task_id in chunk.items}
        with RuleEvaluator(self._checked) as evaluator:
            tasks = list(measured_tasks(self._store, rubrics))
            named_of = [
                {rubric_digest(rubric): rubric for rubric in rubrics[task_id].values()} for task_id, _, _ in tasks
            ]
            asked = [(named, measured) for named, (_, measured, _) in zip(named_of, tasks, strict=True)]
            judged = builtin.judge_tasks(evaluator, asked, alone=self._bench is None)
            for (task_id, measured, new), named, verdicts in zip(tasks, named_of, judged, strict=True):
                run.append("contrasts", new)
                rollout_ids = measured.column("rollout_id").to_pylist()
                run.append(
                    "rubrics", [rubric_files.row(rubric, self._prompts.get(digest)) for digest, rubric in named.items()]
                )
                run.append_table("grades", grade_table(verdicts, rollout_ids, task_id, self._judge, self._repeats))
                self._count_verdicts(task_id, verdicts)
        for task_id in (name for name, found in rubrics.items() if not found):
            self._count(task_id, "no_rubric", "no rubric file: nothing to score by; run `rubrics synthesize`")
        if self._environment is not None:
            self._run(run, self._environment, running.wanted(rubrics))
        if self._bench:
            self._judged(run, self._bench, judging.cases(self._store, rubrics, self._options))
        return chunk.rollouts

    def _run(self, run: StageRun, environment: Environment, rubrics: Mapping[str, Mapping[Kind, Rubric]]) -> None:
        for row in running.run_rows(self._store, rubrics, environment) if rubrics else ():
            run.append("grades", [{**row, "judge": self._judge, "repeat": n} for n in range(self._repeats)])
            if row["value"] is None:
                self._count(row["task_id"], row["failure_class"], "commands of run criteria that did not run")

    def _judged(self, run: StageRun, bench: Bench, listed: Sequence[tuple[Case, bool]]) -> None:
        asked = [case for case, judged in listed if judged]
        done = iter(bench.together([partial(bench.judge.judge, case) for case in asked]))
        guarded: dict[str, dict[str, Any]] = {}
        for case, judged in listed:
            judgement = next(done) if judged else judging.not_judged(case, self._judge)
            run.append("grades", judging.grade_rows(case, judgement))
            if judged:
                run.append("judgements", [judging.judgement_row(case, judgement, bench.sampling)])
            if guard := judging.guard_row(case, judgement):
                guarded.setdefault(judgement.rollout_id, guard)
            if judgement.failure_class:
                why = judging.UNJUDGED if judged else "left out by --passes-only"
                self._count(case.task.task_id, judgement.failure_class, why)
        run.append("audits", guarded.values())

    def _count_verdicts(self, task_id: str, verdicts: list[Verdicts]) -> None:
        for kind, failure in ((item.kind, failure) for item in verdicts for failure in item.failures if failure):
            self._count(task_id, failure, f"{kind} verdicts without a value")

    def _count(self, task_id: str, kind: str, detail: str) -> None:
        with self._lock:  # chunks run in threads
            self._failures[task_id, kind, detail] += 1

    def finish(self, run: StageRun) -> None:
        done = sorted(self._rubrics)
        run.carry("contrasts")
        run.keep("rubrics", "task_id NOT IN (SELECT unnest($done))", done=done)
        others = "task_id NOT IN (SELECT unnest($done)) OR judge <> $judge"
        run.append("grades", ())
        run.keep("grades", others, done=done, judge=self._judge)
        if self._bench:
            run.append("judgements", ())
            run.keep("judgements", others, done=done, judge=self._judge)
            source = judging.guard_source(self._judge)
            run.append("audits", ())
            run.keep("audits", "task_id NOT IN (SELECT unnest($done)) OR source <> $source", done=done, source=source)
        lines = [
            CensusLine(self.name, "task", kind, task_id, detail, count)
            for (task_id, kind, detail), count in sorted(self._failures.items())
        ]
        for who, opener in (("judge", self._bench and self._bench.opener), ("run criteria", self._environment)):
            if isinstance(opener, Opener):
                lines += [replace(line, place=who) for line in opener.census(self.name)]
        if {row["judge"] for row in self._store.query("SELECT DISTINCT judge FROM grades").to_pylist()} - {self._judge}:
            lines.append(CensusLine(self.name, "run", "judge", self._judge, "scored last: rewards are its"))
        run.append("census", census_rows(lines))
