"""Check tasks: does the start fail, does the reference pass, again and again?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from rubrics.records.census import CensusLine
from rubrics.stages.environments import Opener
from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk
from rubrics.stages.task_records import task_records
from rubrics.store.chunks import Done, Output
from rubrics.store.commit import StageRun
from rubrics.store.store import Store
from rubrics.testing.bounded import Reader
from rubrics.testing.gates import Gates, check_task


class CheckTasks:
    """Writes a census line per task whose gates did not pass; `found` holds the gates of every task."""

    name = "check-tasks"

    def __init__(self, store: Store, options: Options, reruns: int) -> None:
        self._store = store
        self._options = options
        self._reruns = reruns
        self.found: list[Gates] = []
        self._opener = Opener(options, store)
        self._reader = Reader()

    def chunks(self) -> Iterable[Chunk]:
        ids = sorted(row["task_id"] for row in self._store.rows("tasks", ["task_id"]))
        chosen = [task_id for task_id in ids if fnmatchcase(task_id, self._options.tasks)][: self._options.limit]
        return [Chunk(task_id, (task_id,), 1) for task_id in chosen]

    def work(self, out: Output, chunk: Chunk) -> int:
        task, sealed = task_records(self._store, list(chunk.items))[chunk.items[0]]
        opener, options = self._opener, self._options
        self.found.append(
            check_task(opener, task, sealed, options.timeout, self._reruns, opener.original, self._reader)
        )
        return 1

    def finish(self, run: StageRun, done: Sequence[Done]) -> None:
        for gates in self.found:
            if not gates.passed:
                run.note(CensusLine(self.name, "task", "gate_failed", gates.task_id, gates.detail))
        self._opener.close()
        self._reader.close()
