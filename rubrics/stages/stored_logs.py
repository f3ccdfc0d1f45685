"""Test without running: the stored logs of a harness, read by the readers that read a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rubrics.ingest.identity import patch_key
from rubrics.outcomes import doubts
from rubrics.records.census import CensusLine
from rubrics.records.outcomes import Outcome
from rubrics.records.tasks import Task
from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk, record_row
from rubrics.stages.task_records import task_records
from rubrics.store.chunks import Done, Output
from rubrics.store.commit import StageRun
from rubrics.store.store import Store
from rubrics.testing.bounded import Reader
from rubrics.testing.stored_logs import StoredLog, outcome_of, stored_logs


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What a log must agree with to be an attempt's."""

    rollout_id: str
    policy: str | None
    patch: str | None
    """Key of its patch; null when the dump has none."""


class StoredLogs:
    """Adds outcomes `harness:<path of the log>`; a log that belongs to no attempt is a census line.

    A log belongs to the attempt of its task, run and policy whose patch was tested. Where the tested patch lies beside
    the log and is no attempt's, the log says nothing about any; attempts with that very patch all have the log, for
    they are one state. Where it is not known what was tested, the run must have one attempt at the task.
    """

    name = "test"

    def __init__(self, store: Store, options: Options) -> None:
        self._store = store
        self._options = options
        self._census: list[CensusLine] = []
        self._found: dict[tuple[str, str], Outcome] = {}
        self._who: dict[str, str] = {}
        self._task_of: dict[str, str] = {}

    def chunks(self) -> Iterable[Chunk]:
        return [Chunk("stored logs", self._options.from_logs, 0)]

    def work(self, out: Output, chunk: Chunk) -> int:
        owners: dict[tuple[str, str], list[_Attempt]] = {}
        for row in self._store.rows("rollouts", ["rollout_id", "task_id", "run", "policy", "patch"]):
            key = None if row["patch"] is None else patch_key(row["patch"])
            found = _Attempt(row["rollout_id"], row["policy"], key)
            owners.setdefault((row["task_id"], row["run"]), []).append(found)
        tasks = task_records(self._store, sorted({task_id for task_id, _ in owners}))
        reader = Reader()
        try:
            for log in stored_logs([Path(dump) for dump in chunk.items]):
                attempts = self._owners(owners.get((log.task_id, log.run), []), log)
                if log.task_id in tasks and attempts:
                    self._read(log, attempts, tasks[log.task_id][0], reader)
                elif attempts:
                    self._note("no_task", log.place, "no task row: nothing says which tests count")
        finally:
            reader.close()
        for outcome in self._found.values():
            out.append("outcomes", [{**record_row(outcome), "task_id": self._task_of[outcome.rollout_id]}])
        return len(self._found)

    def _owners(self, attempts: list[_Attempt], log: StoredLog) -> list[_Attempt]:
        """The attempts whose log it is; none, and a census line, where that is not settled."""
        of_policy = [item for item in attempts if _may_be(item.policy, log.policy)]
        if not of_policy:
            self._note(
                "no_owner", log.place, f"run {log.run!r} has no attempt at {log.task_id}; ingest it, or correct names"
            )
            return []
        if log.patch is None:
            if len(of_policy) > 1:
                detail = f"run {log.run!r} has {len(of_policy)} attempts; lay the tested `patch.diff` beside the log"
                self._note("log_ambiguous", log.place, detail)
            return of_policy if len(of_policy) == 1 else []
        key = patch_key(log.patch)
        same = [item for item in of_policy if item.patch == key]
        unknown = [item for item in of_policy if item.patch is None]
        if same:
            return same
        if len(of_policy) == len(unknown) == 1:
            return unknown
        self._note("other_patch", log.place, "the tested patch is not that of an attempt; the log is left out")
        return []

    def _read(self, log: StoredLog, attempts: list[_Attempt], task: Task, reader: Reader) -> None:
        outcome, verdict = outcome_of(log, task, "", reader)
        if verdict.kind is not None:
            place = log.task_id if verdict.kind == "runner_missing" else log.place
            self._note(verdict.kind, place, verdict.why[:300])
        for attempt in attempts:
            self._who[attempt.rollout_id] = f"{log.task_id}, run {log.run}"
            self._task_of[attempt.rollout_id] = log.task_id
            named = replace(outcome, rollout_id=attempt.rollout_id)
            number = 1
            while (attempt.rollout_id, named.source) in self._found:
                number += 1
                named = replace(named, source=f"{outcome.source}#{number}")
            self._found[attempt.rollout_id, named.source] = named

    def _note(self, kind: str, place: str, detail: str) -> None:
        self._census.append(CensusLine(self.name, "outcome", kind, place, detail))

    def finish(self, run: StageRun, done: Sequence[Done]) -> None:
        again = sorted({source for _, source in self._found}) or [""]
        run.carry("outcomes", "source IN (SELECT unnest($again))", again=again)
        where = "source NOT IN (SELECT unnest($again)) AND rollout_id IN (SELECT unnest($ids))"
        said: dict[str, list[Outcome]] = {rollout_id: [] for rollout_id in self._who}
        columns = ["rollout_id", "source", "outcome", "detail"]
        for row in self._store.rows("outcomes", columns, where=where, again=again, ids=sorted(said) or [""]):
            said[row["rollout_id"]].append(Outcome(**row))
        for outcome in self._found.values():
            said[outcome.rollout_id].append(outcome)
        for rollout_id, outcomes in said.items():
            self._census += doubts(self.name, rollout_id, self._who[rollout_id], outcomes)
        for line in self._census:
            run.note(line)


def _may_be(policy: str | None, named: str | None) -> bool:
    """Whether the attempt may be of the policy that a folder names, where `/` is written `__`; unknown fits all."""
    return policy is None or named is None or policy.replace("/", "__") == named.replace("/", "__")
