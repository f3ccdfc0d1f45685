"""Score: every rollout under every criterion of its task's rubrics, as the rubric files say now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from rubrics import jsonio
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
from rubrics.stages.jobs import code_digest
from rubrics.stages.measured import measured_tasks, refuse_unmeasured
from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk
from rubrics.stages.tasks import task_chunks
from rubrics.store.chunks import Done, Output
from rubrics.store.commit import StageRun
from rubrics.store.grade_rows import grade_table
from rubrics.store.scored import LAST_JUDGE, inputs_of, remember, up_to_date
from rubrics.store.store import Store


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

    Tasks whose grades rest on what is there now are not scored again. Rules are evaluated here whoever judges. Every
    rubric file of the others is loaded and checked before anything is scored.
    """

    name = "score"
    reads = ("tasks", "rollouts", "transcripts", "outcomes", "facts", "contrasts", "studies", "rubrics", "environments")

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
        self._inputs = inputs_of(store, self._settings(), lambda task_id: rubric_files.digests(store.paths, task_id))
        refuse_unmeasured(store, [task_id for chunk in task_chunks(store, options) for task_id in chunk.items])
        self._chunks = list(task_chunks(store, options, up_to_date(store, self._judge, self._inputs)))
        self._rubrics = self._loaded()
        entered = environment is not None and any(running.wanted(self._rubrics))
        self._environment = environment() if environment is not None and entered else None

    def _loaded(self) -> dict[str, dict[Kind, Rubric]]:
        """The rubrics of the tasks that are to be scored. Raises `RubricError` for a file that is not valid."""
        rows = self._store.rows("rubrics", ["rubric_digest", "author", "prompt_digest", "task_id", "kind"])
        known = {row["rubric_digest"]: row["author"] for row in rows}
        self._prompts = {row["rubric_digest"]: row["prompt_digest"] for row in rows}
        self._checked: Checked = {}
        loaded: dict[str, dict[Kind, Rubric]] = {}
        with RuleEvaluator(self._checked) as evaluator:
            for task_id in self._tasks():
                found = rubric_files.load(self._store.paths, task_id, evaluator)
                loaded[task_id] = {kind: rubric_files.by_author(item, known) for kind, item in found.items()}
        return loaded

    def _tasks(self) -> list[str]:
        return [task_id for chunk in self._chunks for task_id in chunk.items]

    def _settings(self) -> str:
        """How scores are made, but for what lies in the store."""
        options = self._options
        asked = [self._bench.sampling, options.passes_only, options.room, options.extra] if self._bench else []
        return jsonio.dumps([code_digest(), self._repeats, *asked])

    @property
    def apart(self) -> bool:
        """Rules alone can be evaluated in other processes."""
        return self._bench is None and self._environment is None

    def chunks(self) -> Iterable[Chunk]:
        return self._chunks

    def lasting_census(self) -> tuple[str, dict[str, Any]]:
        """Lines about tasks that are not scored again stay."""
        return "subject = 'task' AND place NOT IN (SELECT unnest($tasks))", {"tasks": self._tasks()}

    def work(self, out: Output, chunk: Chunk) -> int:
        rubrics = {task_id: self._rubrics[task_id] for task_id in chunk.items}
        measured_ids: list[str] = []
        again: set[str] = set()
        with RuleEvaluator(self._checked) as evaluator:
            tasks = list(measured_tasks(self._store, rubrics))
            named_of = [
                {rubric_digest(rubric): rubric for rubric in rubrics[task_id].values()} for task_id, _, _ in tasks
            ]
            asked = [(named, measured) for named, (_, measured, _) in zip(named_of, tasks, strict=True)]
            judged = builtin.judge_tasks(evaluator, asked, alone=self._bench is None)
            for (task_id, measured, new), named, verdicts in zip(tasks, named_of, judged, strict=True):
                out.append("contrasts", new)
                rollout_ids = measured.column("rollout_id").to_pylist()
                measured_ids += rollout_ids
                out.append(
                    "rubrics", [rubric_files.row(rubric, self._prompts.get(digest)) for digest, rubric in named.items()]
                )
                out.append_table("grades", grade_table(verdicts, rollout_ids, task_id, self._judge, self._repeats))
                _count_verdicts(out, task_id, verdicts)
        for task_id in (name for name, found in rubrics.items() if not found):
            _count(out, task_id, "no_rubric", "no rubric file: nothing to score by; run `rubrics synthesize`")
        if self._environment is not None:
            again |= self._run(out, self._environment, running.wanted(rubrics))
        if self._bench:
            again |= self._judged(out, self._bench, judging.cases(self._store, rubrics, self._options))
        for who, opener in self._openers():
            out.keep(who, opener.entered_of(measured_ids))
        out.keep("whole", [task_id for task_id in rubrics if task_id not in again])
        return chunk.rollouts

    def _run(self, out: Output, environment: Environment, rubrics: Mapping[str, Mapping[Kind, Rubric]]) -> set[str]:
        """Run the commands of run criteria; returns tasks of which some did not run."""
        again = set()
        for row in running.run_rows(self._store, rubrics, environment) if rubrics else ():
            out.append("grades", [{**row, "judge": self._judge, "repeat": n} for n in range(self._repeats)])
            if row["value"] is None:
                _count(out, row["task_id"], row["failure_class"], "commands of run criteria that did not run")
                again.add(row["task_id"])
        return again

    def _judged(self, out: Output, bench: Bench, listed: Sequence[tuple[Case, bool]]) -> set[str]:
        """Have the cases judged; returns tasks of which some got no verdict."""
        again = set()
        asked = [case for case, judged in listed if judged]
        done = iter(bench.together([partial(bench.judge.judge, case) for case in asked]))
        guarded: dict[str, dict[str, Any]] = {}
        for case, judged in listed:
            judgement = next(done) if judged else judging.not_judged(case, self._judge)
            out.append("grades", judging.grade_rows(case, judgement))
            if judged:
                out.append("judgements", [judging.judgement_row(case, judgement, bench.sampling)])
            if guard := judging.guard_row(case, judgement):
                guarded.setdefault(judgement.rollout_id, guard)
            if judgement.failure_class:
                why = "judgements without verdicts" if judged else "left out by --passes-only"
                _count(out, case.task.task_id, judgement.failure_class, why)
                again |= {case.task.task_id} if judged else set()
        out.append("audits", guarded.values())
        return again

    def finish(self, run: StageRun, done: Sequence[Done]) -> None:
        tasks = sorted(self._rubrics)
        run.carry("contrasts")
        run.carry("rubrics", "task_id IN (SELECT unnest($tasks))", tasks=tasks)
        mine = "task_id IN (SELECT unnest($tasks)) AND judge = $judge"
        run.carry("grades", mine, tasks=tasks, judge=self._judge)
        if self._bench:
            run.carry("judgements", mine, tasks=tasks, judge=self._judge)
            source = judging.guard_source(self._judge)
            run.carry("audits", "task_id IN (SELECT unnest($tasks)) AND source = $source", tasks=tasks, source=source)
        lines: list[CensusLine] = []
        for who, opener in self._openers():
            lines += [replace(line, place=who) for line in opener.census(self.name, (item.kept[who] for item in done))]
        whole = [task_id for item in done for task_id in item.kept["whole"]]
        remember(run, self._judge, tasks, whole, self._inputs)
        run.carry("chosen", "what = $what", what=LAST_JUDGE)
        run.append("chosen", [{"what": LAST_JUDGE, "value": self._judge}])
        if {row["judge"] for row in self._store.query("SELECT DISTINCT judge FROM grades").to_pylist()} - {self._judge}:
            lines.append(CensusLine(self.name, "run", "judge", self._judge, "scored last: rewards are its"))
        for line in lines:
            run.note(line)

    def _openers(self) -> Iterator[tuple[str, Opener]]:
        """What opens environments here, and for whom."""
        for who, opener in (("judge", self._bench and self._bench.opener), ("run criteria", self._environment)):
            if isinstance(opener, Opener):
                yield who, opener


def _count_verdicts(out: Output, task_id: str, verdicts: list[Verdicts]) -> None:
    for kind, failure in ((item.kind, failure) for item in verdicts for failure in item.failures if failure):
        _count(out, task_id, failure, f"{kind} verdicts without a value")


def _count(out: Output, task_id: str, kind: str, detail: str) -> None:
    out.note(CensusLine(Score.name, "task", kind, task_id, detail, 1))
