"""Ingest: dumps in, tasks, rollouts, transcripts and recorded outcomes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rubrics.ingest.read import ingest
from rubrics.records import transcripts
from rubrics.records.census import CensusLine
from rubrics.records.outcomes import Outcome
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Sealed, SealedTask, Task
from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk, census_rows, record_row
from rubrics.store.store import StageRun

TABLES = ("tasks", "sealed", "rollouts", "transcripts", "outcomes")
_ROLLOUT_FIELDS = [item.name for item in fields(Rollout) if item.name != "turns"]


class Ingest:
    """Replaces what the store holds of tasks, rollouts, transcripts and recorded outcomes by what the dumps hold."""

    name = "ingest"

    def __init__(self, options: Options) -> None:
        self._options = options
        self._census: list[CensusLine] = []

    def chunks(self) -> Iterable[Chunk]:
        return [Chunk("dumps", self._options.dumps, 0)]

    def work(self, run: StageRun, chunk: Chunk) -> int:
        for table in TABLES:
            run.append(table, ())
        selection = _Selection(self._options)
        task_of: dict[str, str] = {}
        stored: set[tuple[str, str]] = set()
        for record in ingest([Path(dump) for dump in chunk.items], self._options.group_by):
            if isinstance(record, CensusLine):
                self._census.append(record)
            elif isinstance(record, Outcome):
                if record.rollout_id in task_of:
                    run.append("outcomes", [{**record_row(record), "task_id": task_of[record.rollout_id]}])
            elif not selection.takes(record.task_id):
                self._census += [_filtered(record)] if isinstance(record, Rollout) else []
            elif isinstance(record, Rollout):
                task_of[record.rollout_id] = record.task_id
                run.append("rollouts", [{name: getattr(record, name) for name in _ROLLOUT_FIELDS}])
                run.append("transcripts", _transcript_rows(record, stored))
            else:
                run.append("tasks" if isinstance(record, Task) else "sealed", [_task_row(record)])
        return len(task_of)

    def finish(self, run: StageRun) -> None:
        run.append("census", census_rows(self._census))


class _Selection:
    """Which tasks `--tasks` and `--limit` let in. A limit takes the first ones by id, so the dumps are read twice."""

    def __init__(self, options: Options) -> None:
        self._glob = options.tasks
        self._first: frozenset[str] | None = None
        if options.limit is not None:
            read = ingest([Path(dump) for dump in options.dumps], options.group_by)
            ids = {record.task_id for record in read if isinstance(record, Rollout) and self.takes(record.task_id)}
            self._first = frozenset(sorted(ids)[: options.limit])

    def takes(self, task_id: str) -> bool:
        return fnmatchcase(task_id, self._glob) and (self._first is None or task_id in self._first)


def _filtered(rollout: Rollout) -> CensusLine:
    return CensusLine("ingest", "rollout", "filtered", rollout.task_id, "left out by --tasks or --limit")


def _transcript_rows(rollout: Rollout, stored: set[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    if rollout.turns is None or rollout.transcript_digest is None:
        return
    key = (rollout.transcript_digest, rollout.task_id)
    if key not in stored:
        stored.add(key)
        yield {
            "transcript_digest": rollout.transcript_digest,
            "task_id": rollout.task_id,
            "n_turns": rollout.n_turns,
            "turns": transcripts.to_json(rollout.turns),
        }


def _task_row(task: Task | SealedTask) -> dict[str, Any]:
    if isinstance(task, Task):
        return record_row(task)
    opened = {name: getattr(task, name) for name in ("test_patch", "reference_patch", "hints")}
    texts = {name: value.open_for("store") if isinstance(value, Sealed) else None for name, value in opened.items()}
    return {"task_id": task.task_id, **texts}
