"""Facts: every rollout measured alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rubrics.facts.measure import measure
from rubrics.records import transcripts
from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk
from rubrics.store.chunks import Done, Output
from rubrics.store.commit import StageRun
from rubrics.store.store import Store


class Facts:
    """One row of facts per rollout. With `again` all are measured, else those that are new, or were measured by another
    version of this program."""

    name = "facts"
    reads = ("rollouts", "transcripts")
    apart = True

    def __init__(self, store: Store, options: Options, again: bool = False) -> None:
        self._store = store
        self._size = options.chunk
        self._current: list[str] = [] if again else store.parts_of_this_version("facts")

    def chunks(self) -> Iterable[Chunk]:
        for batch in self._store.unmeasured(self._current, self._size):
            yield Chunk(batch[0]["task_id"], tuple((row["rollout_id"], row["task_id"]) for row in batch), len(batch))

    def work(self, out: Output, chunk: Chunk) -> int:
        out.append("facts", list(measured(self._store, chunk.items)))
        return chunk.rollouts

    def finish(self, run: StageRun, done: Sequence[Done]) -> None:
        run.carry_parts("facts", self._current)


def measured(store: Store, rollouts: tuple[tuple[str, str], ...]) -> Iterator[dict[str, Any]]:
    """Rows of the facts table for the named rollouts, each given with its task.

    The bounds on the task let DuckDB leave out the row groups of other tasks: parts are sorted by it.
    """
    query = """
        SELECT rollout_id, task_id, patch, exit_status, turns
        FROM (SELECT * FROM rollouts WHERE task_id BETWEEN $first AND $last AND rollout_id IN (SELECT unnest($ids)))
        LEFT JOIN (SELECT * FROM transcripts WHERE task_id BETWEEN $first AND $last) USING (transcript_digest, task_id)
    """
    tasks = [task_id for _, task_id in rollouts]
    bounds = {"first": min(tasks), "last": max(tasks), "ids": [rollout_id for rollout_id, _ in rollouts]}
    for row in store.query(query, bounds).to_pylist():
        turns = None if row["turns"] is None else transcripts.from_json(row["turns"])
        facts = measure(row["patch"], turns, row["exit_status"])
        yield {"rollout_id": row["rollout_id"], "task_id": row["task_id"], **facts}
