"""Whose outcome it is: a recorded outcome is given to the attempt that it was made for, or to none.

Task and run must agree, and attempt, policy and the tested patch where the record names them. Where the record's run
has no rollout of any task, and the policy has one run only, the harness named its run otherwise, and the policy
decides. What is given to none is a line that names the record, and the rollouts that come near.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace

from rubrics.ingest.identity import Known, patch_key
from rubrics.ingest.items import Measured, Note, Recorded
from rubrics.ingest.lost import Lost
from rubrics.outcomes import doubts
from rubrics.records.census import CensusLine
from rubrics.records.outcomes import Outcome


class Matcher:
    """Remembers rollouts and recorded outcomes; `outcomes()` joins them when all are known."""

    def __init__(self) -> None:
        self._recorded: list[tuple[Recorded, bytes | None]] = []
        self._known: dict[str, Known] = {}
        self._runs: dict[tuple[str, str], list[Known]] = {}
        self._tasks: dict[str, list[Known]] = {}
        self._ids: dict[str, list[Known]] = {}
        self._copied: set[tuple[str, str]] = set()
        """Rollouts with further ids that copies of them have."""
        self._folders: dict[str, set[tuple[str, ...]]] = {}
        self._policies: dict[str, set[str]] = {}

    def know(self, known: Known) -> None:
        """Remember a rollout."""
        self._known[known.rollout_id] = known
        self._runs.setdefault((known.task_id, known.run), []).append(known)
        self._tasks.setdefault(known.task_id, []).append(known)
        for name in {known.rollout_id, known.given_id} - {None}:
            self._ids.setdefault(str(name), []).append(known)
        self.know_run(known.run, known.folders, known.policy)

    def know_run(self, run: str, folders: Iterable[tuple[str, ...]], policy: str | None) -> None:
        """Remember that the run has a rollout, and whose it is."""
        self._folders.setdefault(run, set()).update(folders)
        if policy is not None:
            self._policies.setdefault(_plain(policy), set()).add(run)

    def again(self, rollout_id: str, folder: tuple[str, ...] | None, given_id: str | None = None) -> None:
        """Remember that a rollout was given again, from another folder or by another id of its dump."""
        known = self._known.get(rollout_id)
        if known is None:
            return
        if given_id not in (None, known.rollout_id, known.given_id) and (rollout_id, given_id) not in self._copied:
            self._copied.add((rollout_id, str(given_id)))
            self._ids.setdefault(str(given_id), []).append(known)
        if folder is not None:
            known.folders |= {folder}
            self._folders.setdefault(known.run, set()).add(folder)

    def record(self, recorded: Recorded) -> None:
        """Remember an outcome; its test list is packed, since all of them are held to the end."""
        tests = None if recorded.tests is None else zlib.compress(recorded.tests.encode(), 1)
        if tests is not None or recorded.patch is not None:
            patch = None if recorded.patch is None else patch_key(recorded.patch)
            recorded = replace(recorded, tests=None, patch=patch)
        self._recorded.append((recorded, tests))

    def has(self, task_id: str, run: str) -> bool:
        """Whether the run has a rollout of the task."""
        return (task_id, run) in self._runs

    def attempts(self, task_id: str, run: str, folder: tuple[str, ...] | None) -> list[Known]:
        """The rollouts of a run of this name; of one folder, where the name stands for several."""
        found = self._runs.get((task_id, run), [])
        if folder is not None and folder in self._folders.get(run, ()):
            return [known for known in found if folder in known.folders]
        return found

    def outcomes(self) -> Iterator[Outcome | Note | CensusLine]:
        """Every outcome that has a rollout, and what is to be said of those without and of disagreements."""
        lost = Lost(self._tasks)
        for recorded, tests in self._recorded:
            found = self._rollouts_of(recorded, lost)
            for known in found:
                outcome = _outcome(known, recorded, tests)
                if outcome is not None:
                    known.outcomes.append(outcome if outcome.tests is None else replace(outcome, tests=None))
                    yield outcome
        yield from lost.notes()
        for known in self._known.values():
            if len(known.outcomes) > 1:
                yield from doubts("ingest", known.rollout_id, f"{known.task_id}, run {known.run}", known.outcomes)

    def _rollouts_of(self, recorded: Recorded, lost: Lost) -> list[Known]:
        """The rollouts that the outcome is of: several only if all have the patch that counts."""
        found = self._of_run(recorded, lost) if recorded.given_id is None else self._named(recorded)
        fitting = [known for known in found if _fits(known, recorded)]
        if not fitting:
            lost.add("outcome_without_rollout", recorded, found)
            return []
        if recorded.outcome == "passed" and recorded.name.startswith("harness:"):
            # A harness does not pass what has no patch: its report is of another attempt.
            found, fitting = fitting, [known for known in fitting if known.patches != {""}]
            if not fitting:
                lost.add("outcome_of_another_patch", recorded, found)
                return []
        if recorded.patch is not None:
            tested = [known for known in fitting if not known.patches or recorded.patch in known.patches]
            if not tested:
                lost.add("outcome_of_another_patch", recorded, fitting)
                return []
            fitting = [known for known in tested if known.patches] or tested
        if len(fitting) > 1 and (len({known.own_patch for known in fitting}) > 1 or fitting[0].own_patch is None):
            lost.add("outcome_ambiguous", recorded, fitting)
            return []
        return fitting

    def _named(self, recorded: Recorded) -> list[Known]:
        """The rollouts of the task that their dump calls so; those of the same dump before those of others."""
        found = [known for known in self._ids.get(recorded.given_id or "", []) if known.task_id == recorded.task_id]
        own = [known for known in found if known.dump == recorded.source.file.dump]
        found = own or found
        if recorded.run is not None:
            found = [known for known in found if known.run == recorded.run.name]
        return found

    def _of_run(self, recorded: Recorded, lost: Lost) -> list[Known]:
        if recorded.run is None:
            return []
        name = recorded.run.name
        found = self.attempts(recorded.task_id, name, recorded.run.folder)
        if found or name in self._folders or recorded.policy is None or not recorded.name.startswith("harness:"):
            return found
        runs = self._policies.get(_plain(recorded.policy), set())
        if len(runs) != 1:
            return []
        (only,) = runs
        found = [
            known for known in self._runs.get((recorded.task_id, only), []) if _plain(recorded.policy) in known.names
        ]
        if found:
            lost.joined_by_policy(recorded, only)
        return found


def _fits(known: Known, recorded: Recorded) -> bool:
    if recorded.attempt is not None and known.attempt != recorded.attempt:
        return False
    return recorded.policy is None or known.may_be_of(recorded.policy)


def _plain(policy: str) -> str:
    return policy.replace("/", "__")


def measured_outcome(known: Known, measured: Measured) -> Outcome | None:
    """The outcome that the rollout's own row records; null when it is there already."""
    source = f"recorded:{measured.reader}"
    if any(item.source == source and item.outcome == measured.outcome for item in known.outcomes):
        return None
    number = sum(item.source.partition("#")[0] == source for item in known.outcomes) + 1
    name = source if number == 1 else f"{source}#{number}"
    outcome = Outcome(known.rollout_id, name, measured.outcome, measured.detail)
    known.outcomes.append(outcome)
    return outcome


def _outcome(known: Known, recorded: Recorded, tests: bytes | None) -> Outcome | None:
    """The outcome under a source name of its own; null when the rollout has the same already."""
    name, number = recorded.name, 1
    by_source = {outcome.source: outcome.outcome for outcome in known.outcomes}
    while name in by_source:
        if by_source[name] == recorded.outcome:
            return None
        number += 1
        name = f"{recorded.name}#{number}"
    text = None if tests is None else zlib.decompress(tests).decode()
    return Outcome(known.rollout_id, name, recorded.outcome, recorded.detail, text, recorded.log_digest)
