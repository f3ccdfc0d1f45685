"""Ingest: dumps in, tasks, rollouts, transcripts and recorded outcomes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rubrics.ingest.read import ingest
from rubrics.outcomes import doubts, is_measured_here
from rubrics.records import transcripts
from rubrics.records.census import CensusLine
from rubrics.records.outcomes import Outcome
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Sealed, SealedTask, Task
from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk, census_rows, record_row
from rubrics.store.store import StageRun, Store

TABLES = ("tasks", "sealed", "rollouts", "transcripts", "outcomes")
_ROLLOUT_FIELDS = [item.name for item in fields(Rollout) if item.name != "turns"]
_OUTCOME_FIELDS = [item.name for item in fields(Outcome)]


class Ingest:
    """Replaces what the store holds of tasks, rollouts, transcripts and recorded outcomes by what the dumps hold.

    What programs of ours found out stays: test runs and stored logs that were read (`run:<k>`, logs). They are joined
    by rollout; those whose rollout is no longer there are kept too, and counted.
    """

    name = "ingest"

    def __init__(self, options: Options) -> None:
        self._options = options
        self._census: list[CensusLine] = []
        self._task_of: dict[str, str] = {}
        self._measured: dict[str, list[Outcome]] = {}

    def chunks(self) -> Iterable[Chunk]:
        return [Chunk("dumps", self._options.dumps, 0)]

    def work(self, run: StageRun, chunk: Chunk) -> int:
        for table in TABLES:
            run.append(table, ())
        self._keep_measured(run)
        recorded: dict[str, list[Outcome]] = {}
        stored: set[tuple[str, str]] = set()
        for record in self._read(chunk.items):
            if isinstance(record, CensusLine):
                self._census.append(record)
            elif isinstance(record, Outcome):
                run.append("outcomes", [{**record_row(record), "task_id": self._task_of[record.rollout_id]}])
                if record.rollout_id in self._measured:
                    recorded.setdefault(record.rollout_id, []).append(record)
            elif isinstance(record, Rollout):
                self._task_of[record.rollout_id] = record.task_id
                run.append("rollouts", [{name: getattr(record, name) for name in _ROLLOUT_FIELDS}])
                run.append("transcripts", _transcript_rows(record, stored))
            else:
                run.append("tasks" if isinstance(record, Task) else "sealed", [_task_row(record)])
        self._compare(recorded)
        return len(self._task_of)

    def finish(self, run: StageRun) -> None:
        run.append("census", census_rows(self._census))

    def _read(self, dumps: Iterable[str]) -> Iterator[Any]:
        options = self._options
        paths = [Path(dump) for dump in dumps]
        return ingest(paths, options.group_by, trust_recorded=options.trust_recorded, wanted=_wanted(options))

    def _keep_measured(self, run: StageRun) -> None:
        """Carry over the outcomes that no dump gives."""
        for batch in Store.open(Path(self._options.store)).batches("outcomes"):
            kept = [row for row in batch if is_measured_here(row["source"])]
            run.append("outcomes", kept)
            for row in kept:
                outcome = Outcome(**{name: row[name] for name in _OUTCOME_FIELDS if name != "tests"})
                self._measured.setdefault(row["rollout_id"], []).append(outcome)

    def _compare(self, recorded: dict[str, list[Outcome]]) -> None:
        """Doubts about rollouts whose measured outcomes were carried over, and what was carried over of no rollout."""
        known = self._measured.keys() & self._task_of.keys()
        self._census = [line for line in self._census if not (line.subject == "outcome" and line.place in known)]
        for rollout_id in sorted(known):
            said = [*recorded.get(rollout_id, ()), *self._measured[rollout_id]]
            self._census += doubts(self.name, rollout_id, self._task_of[rollout_id], said)
        orphans = sum(len(rows) for rollout_id, rows in self._measured.items() if rollout_id not in known)
        if orphans:
            detail = (
                "test runs and logs of rollouts that these dumps do not hold; kept until the rollouts are given again"
            )
            self._census.append(CensusLine(self.name, "outcome", "measured_without_rollout", "", detail, orphans))


def _wanted(options: Options) -> Any:
    """Which tasks `--tasks` and `--limit` let in. A limit takes the first ones by id, so the dumps are read twice."""

    def matches(task_id: str) -> bool:
        return fnmatchcase(task_id, options.tasks)

    if options.limit is None:
        return matches
    read = ingest([Path(dump) for dump in options.dumps], options.group_by, wanted=matches)
    ids = {record.task_id for record in read if isinstance(record, Rollout)}
    return frozenset(sorted(ids)[: options.limit]).__contains__


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
