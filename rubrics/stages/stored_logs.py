"""Test without running: the stored logs of a harness, read by the readers that read a run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rubrics.records.census import CensusLine
from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk, census_rows, record_row
from rubrics.stages.task_records import task_records
from rubrics.store.store import StageRun, Store
from rubrics.testing.stored_logs import StoredLog, outcome_of, stored_logs


class StoredLogs:
    """Adds outcomes `harness:<path of the log>`; a log that no single rollout owns is a census line."""

    name = "test"

    def __init__(self, store: Store, options: Options) -> None:
        self._store = store
        self._options = options
        self._census: list[CensusLine] = []
        self._sources: list[str] = []

    def chunks(self) -> Iterable[Chunk]:
        return [Chunk("stored logs", self._options.from_logs, 0)]

    def work(self, run: StageRun, chunk: Chunk) -> int:
        rollouts = self._store.rows("rollouts", ["rollout_id", "task_id", "run", "patch"])
        owners: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in rollouts:
            owners.setdefault((row["task_id"], row["run"]), []).append(row)
        tasks = task_records(self._store, sorted({row["task_id"] for row in rollouts}))
        done = 0
        for log in stored_logs([Path(dump) for dump in chunk.items]):
            rollout_id = _owner(owners.get((log.task_id, log.run), []), log)
            if rollout_id is None or log.task_id not in tasks:
                self._note("no_owner", log.place, "no single rollout of that task and run, or no task row")
                continue
            outcome = outcome_of(log, tasks[log.task_id][0], rollout_id)
            self._sources.append(outcome.source)
            run.append("outcomes", [{**record_row(outcome), "task_id": log.task_id}])
            done += 1
        return done

    def _note(self, kind: str, place: str, detail: str) -> None:
        self._census.append(CensusLine(self.name, "outcome", kind, place, detail))

    def finish(self, run: StageRun) -> None:
        run.keep("outcomes", "source NOT IN (SELECT unnest($again))", again=self._sources or [""])
        run.append("census", census_rows(self._census))


def _owner(rows: list[dict[str, Any]], log: StoredLog) -> str | None:
    """The rollout whose log it is: the only one of its run, or the only one with the tested patch."""
    if len(rows) > 1 and log.patch is not None:
        rows = [row for row in rows if (row["patch"] or "").strip() == log.patch.strip()]
    return rows[0]["rollout_id"] if len(rows) == 1 else None
