"""Score: every rollout under every criterion of its task's rubrics, as the rubric files say now."""

from __future__ import annotations

from collections.abc import Iterable

from rubrics.judges.builtin import NAME, judge
from rubrics.records.census import CensusLine
from rubrics.records.rubrics import Kind, Rubric
from rubrics.records.verdicts import Verdicts
from rubrics.rules.digest import rubric_digest
from rubrics.rules.evaluate import Checked, RuleEvaluator
from rubrics.stages import rubric_files
from rubrics.stages.measured import measured_tasks
from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk, census_rows
from rubrics.stages.tasks import task_chunks
from rubrics.store.grade_rows import grade_table
from rubrics.store.store import StageRun, Store


class Score:
    """Writes `grades` of the chosen tasks, and `rubrics` and `contrasts` where they are not up to date.

    Every rubric file is loaded and checked before anything is scored.
    """

    name = "score"

    def __init__(self, store: Store, options: Options) -> None:
        self._store = store
        self._chunks = list(task_chunks(store, options))
        self._census: list[CensusLine] = []
        self._rubrics: dict[str, dict[Kind, Rubric]] = {}
        known = {
            row["rubric_digest"]: row["author"]
            for row in store.rows("rubrics", ["rubric_digest", "author", "task_id", "kind"])
        }
        self._checked: Checked = {}
        with RuleEvaluator(self._checked) as evaluator:
            for chunk in self._chunks:
                for task_id in chunk.items:
                    found = rubric_files.load(store.paths, task_id, evaluator)
                    self._rubrics[task_id] = {kind: rubric_files.by_author(item, known) for kind, item in found.items()}

    def chunks(self) -> Iterable[Chunk]:
        return self._chunks

    def work(self, run: StageRun, chunk: Chunk) -> int:
        rubrics = {task_id: self._rubrics[task_id] for task_id in chunk.items}
        with RuleEvaluator(self._checked) as evaluator:
            for task_id, measured, new in measured_tasks(self._store, rubrics):
                run.append("contrasts", new)
                named = {rubric_digest(rubric): rubric for rubric in rubrics[task_id].values()}
                verdicts = list(judge(evaluator, named, measured.drop_columns(["rollout_id"])))
                rollout_ids = measured.column("rollout_id").to_pylist()
                run.append("rubrics", [rubric_files.row(rubric) for rubric in named.values()])
                run.append_table("grades", grade_table(verdicts, rollout_ids, task_id, NAME))
                self._count_failures(task_id, verdicts)
        for task_id in (name for name, found in rubrics.items() if not found):
            self._note(task_id, "no_rubric", "no rubric file: nothing to score by; run `rubrics synthesize`")
        return chunk.rollouts

    def _count_failures(self, task_id: str, verdicts: list[Verdicts]) -> None:
        for kind, failure in ((item.kind, failure) for item in verdicts for failure in item.failures if failure):
            self._note(task_id, failure, f"{kind} verdicts without a value")

    def _note(self, task_id: str, kind: str, detail: str) -> None:
        self._census.append(CensusLine(self.name, "task", kind, task_id, detail))

    def finish(self, run: StageRun) -> None:
        done = sorted(self._rubrics)
        run.carry("contrasts")
        for table in ("rubrics", "grades"):
            run.keep(table, "task_id NOT IN (SELECT unnest($done))", done=done)
        run.append("census", census_rows(self._census))
