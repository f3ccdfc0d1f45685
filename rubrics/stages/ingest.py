"""Ingest: dumps in, tasks, rollouts, transcripts and recorded outcomes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from rubrics.stages.known_rows import SEPARATOR, KnownRows
from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk, record_row
from rubrics.store.chunks import Done, Output
from rubrics.store.commit import StageRun
from rubrics.store.store import Store

_ROLLOUT_FIELDS = [item.name for item in fields(Rollout) if item.name != "turns"]
_OUTCOME_FIELDS = [item.name for item in fields(Outcome)]


class Ingest:
    """Adds what the dumps hold to the tasks, rollouts, transcripts and recorded outcomes of the store.

    What is given again with other values replaces what was there, rollout by rollout; the recorded outcomes of a
    rollout are those that these dumps record. All else stays: rollouts of earlier dumps, and what was found out about
    any (test runs, stored logs, judgements, audits).
    """

    name = "ingest"

    def __init__(self, store: Store, options: Options) -> None:
        self._store = store
        self._options = options
        self._known: dict[str, KnownRows] = {}
        self._census: list[CensusLine] = []
        self._stale: set[str] = set()
        """Rollouts whose facts are to be measured again."""

    def chunks(self) -> Iterable[Chunk]:
        return [Chunk("dumps", self._options.dumps, 0)]

    def work(self, out: Output, chunk: Chunk) -> int:
        self._known = {table: KnownRows(self._store, table) for table in ("tasks", "sealed", "rollouts", "outcomes")}
        stored = _Stored(self._store)
        task_of: dict[str, str] = {}
        recorded: dict[str, list[Outcome]] = {}
        for record in self._read(chunk.items):
            if isinstance(record, CensusLine):
                self._census.append(record)
            elif isinstance(record, Outcome):
                row = {**record_row(record), "task_id": task_of[record.rollout_id]}
                out.append("outcomes", self._known["outcomes"].new([row]))
                if record.rollout_id in stored.measured:
                    recorded.setdefault(record.rollout_id, []).append(record)
            elif isinstance(record, Rollout):
                task_of[record.rollout_id] = record.task_id
                row = {name: getattr(record, name) for name in _ROLLOUT_FIELDS}
                if stored.exit_status.get(record.rollout_id, record.exit_status) != record.exit_status:
                    self._stale.add(record.rollout_id)
                row["duplicate_of"] = stored.first_like(record)
                out.append("rollouts", self._known["rollouts"].new([row]))
                out.append("transcripts", _transcript_rows(record, stored.transcripts))
            else:
                table = "tasks" if isinstance(record, Task) else "sealed"
                out.append(table, self._known[table].new([_task_row(record)]))
        for rollout_id, key in stored.recorded:
            if rollout_id in task_of:
                self._known["outcomes"].drop(key)
        self._compare(task_of, stored.measured, recorded)
        return len(task_of)

    def finish(self, run: StageRun, done: Sequence[Done]) -> None:
        run.carry("transcripts")
        for table, known in self._known.items():
            where, parameters = known.replaced()
            run.carry(table, where if known.replaces else None, **(parameters if known.replaces else {}))
            if known.replaces:
                detail = f"rows of `{table}` that these dumps say otherwise; `rubrics history` has what was there"
                run.note(CensusLine(self.name, "row", "replaced", table, detail, known.replaces))
        self._carry_facts(run)
        if kept := self._known["rollouts"].untouched:
            run.note(CensusLine(self.name, "rollout", "kept", "", "rollouts of earlier dumps, which stay", kept))
        for line in self._census:
            run.note(line)

    def _carry_facts(self, run: StageRun) -> None:
        known = self._store.manifest().current("facts")
        if self._stale and known and set(known.parts) - set(self._store.parts_of_this_version("facts")):
            run.append("facts", ())  # what another version measured would pass for this one's in a part written now
        else:
            run.carry("facts", "rollout_id IN (SELECT unnest($stale))", stale=sorted(self._stale))

    def _read(self, dumps: Iterable[str]) -> Iterator[Any]:
        options = self._options
        paths = [Path(dump) for dump in dumps]
        return ingest(paths, options.group_by, trust_recorded=options.trust_recorded, wanted=_wanted(options))

    def _compare(
        self, task_of: Mapping[str, str], measured: Mapping[str, list[Outcome]], recorded: Mapping[str, list[Outcome]]
    ) -> None:
        """Doubts about rollouts whose measured outcomes were there before, and measurements of no rollout."""
        known = measured.keys() & task_of.keys()
        self._census = [line for line in self._census if not (line.subject == "outcome" and line.place in known)]
        for rollout_id in sorted(known):
            said = [*recorded.get(rollout_id, ()), *measured[rollout_id]]
            self._census += doubts(self.name, rollout_id, task_of[rollout_id], said)
        rollouts = self._known["rollouts"]
        lost = [name for name in measured if name not in task_of and name not in rollouts]
        if lost:
            detail = "test runs and logs of rollouts that are not there; kept until the rollouts are given again"
            count = sum(len(measured[name]) for name in lost)
            self._census.append(CensusLine(self.name, "outcome", "measured_without_rollout", "", detail, count))


class _Stored:
    """What the store holds that the records of a dump are compared with."""

    def __init__(self, store: Store) -> None:
        self.transcripts: set[tuple[str, str]] = set()
        """Digest and task of those that need not be stored again."""
        self.recorded: list[tuple[str, str]] = []
        """Rollout and key of outcomes that dumps recorded."""
        self.measured: dict[str, list[Outcome]] = {}
        """Outcomes that programs of ours found, by rollout."""
        self._first: dict[tuple[str, str], str] = {}
        for batch in store.batches("transcripts", ["transcript_digest", "task_id"]):
            self.transcripts.update((row["transcript_digest"], row["task_id"]) for row in batch)
        for batch in store.batches("outcomes", [name for name in _OUTCOME_FIELDS if name != "tests"]):
            for row in batch:
                if is_measured_here(row["source"]):
                    self.measured.setdefault(row["rollout_id"], []).append(Outcome(**row))
                else:
                    self.recorded.append((row["rollout_id"], f"{row['rollout_id']}{SEPARATOR}{row['source']}"))
        self.exit_status: dict[str, str | None] = {}
        columns = ["rollout_id", "task_id", "content_digest", "duplicate_of", "exit_status"]
        for batch in store.batches("rollouts", columns):
            for row in batch:
                self.exit_status[row["rollout_id"]] = row["exit_status"]
                if row["duplicate_of"] is None:
                    self._first[row["task_id"], row["content_digest"]] = row["rollout_id"]

    def first_like(self, rollout: Rollout) -> str | None:
        """The rollout of an earlier dump that it repeats, else the one of its own dump; null when it is the first."""
        first = self._first.get((rollout.task_id, rollout.content_digest))
        return rollout.duplicate_of if first is None else first if first != rollout.rollout_id else None


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
