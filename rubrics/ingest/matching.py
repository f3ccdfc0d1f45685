"""Whose outcome it is: recorded outcomes to rollouts, by run and task."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import replace

from rubrics.ingest.identity import Known, patch_key
from rubrics.ingest.items import Attempt, Recorded
from rubrics.outcomes import doubts
from rubrics.records.census import CensusLine
from rubrics.records.outcomes import Outcome

_Packed = tuple[Recorded, bytes | None]


class Matcher:
    """Remembers rollouts and recorded outcomes; `outcomes()` joins them when all are known."""

    def __init__(self) -> None:
        self._recorded: list[_Packed] = []
        self._runs: dict[tuple[str, str], list[Known]] = {}
        self._tasks: dict[str, list[Known]] = {}
        self._ids: dict[str, list[Known]] = {}
        self._transcribed: dict[tuple[str, str, str], Known] = {}

    def know(self, known: Known, has_transcript: bool) -> None:
        """Remember a rollout."""
        self._runs.setdefault((known.task_id, known.run), []).append(known)
        self._tasks.setdefault(known.task_id, []).append(known)
        if known.given_id is not None:
            self._ids.setdefault(known.given_id, []).append(known)
        if has_transcript:
            self._transcribed.setdefault((known.task_id, known.run, known.patch), known)

    def record(self, recorded: Recorded) -> None:
        """Remember an outcome; its test list is packed, since all of them are held to the end."""
        tests = None if recorded.tests is None else zlib.compress(recorded.tests.encode(), 1)
        patch = None if recorded.patch is None else patch_key(recorded.patch)
        self._recorded.append((replace(recorded, tests=None, patch=patch), tests))

    def has(self, task_id: str, run: str) -> bool:
        """Whether the run has a rollout of the task."""
        return (task_id, run) in self._runs

    def same_attempt(self, prediction: Attempt) -> Known | None:
        """The attempt with a transcript that the prediction is the patch of."""
        known = self._transcribed.get((prediction.task_id, prediction.run, patch_key(prediction.patch)))
        return known if known is None or prediction.attempt in (None, known.attempt) else None

    def outcomes(self) -> Iterator[Outcome | CensusLine]:
        """Every outcome that has a rollout, and what is to be said of those without and of disagreements."""
        touched: dict[str, Known] = {}
        for recorded, tests in self._recorded:
            found, line = self._rollouts_of(recorded)
            if line is not None:
                yield line
            for known in found:
                outcome = _outcome(known, recorded, tests)
                if outcome is None:
                    continue
                known.outcomes.append(replace(outcome, tests=None))
                touched[known.rollout_id] = known
                yield outcome
        for known in touched.values():
            yield from doubts("ingest", known.rollout_id, f"{known.task_id}, run {known.run}", known.outcomes)

    def _rollouts_of(self, recorded: Recorded) -> tuple[list[Known], CensusLine | None]:
        """The rollouts that the outcome is of; a census line when that is doubtful or none."""
        if recorded.given_id is not None and (named := self._named(recorded)):
            return [named], None
        found = [] if recorded.run is None else self._runs.get((recorded.task_id, recorded.run), [])
        line = None
        if not found and recorded.policy is not None and recorded.name.startswith("harness:"):
            found = self._of_policy(recorded.task_id, recorded.policy)
            if found:
                detail = f"run {recorded.run!r} of the harness has no rollouts; joined to the policy's only run"
                line = recorded.source.note("joined_by_policy", detail, subject="outcome")
        found = [known for known in found if _fits(known, recorded)]
        if not found:
            detail = f"run {recorded.run!r} has no such rollout; give its attempts, or correct the names"
            return [], recorded.source.note("outcome_without_rollout", detail, subject="outcome")
        if len(found) > 1 and recorded.patch is not None:
            found = [known for known in found if known.patch == recorded.patch] or found
        if len({known.patch for known in found}) > 1:
            detail = f"run {recorded.run!r} has several attempts at a task; name `attempt` or `policy`"
            return [], recorded.source.note("outcome_ambiguous", detail, subject="outcome")
        return found, line

    def _named(self, recorded: Recorded) -> Known | None:
        """The rollout of the task that its dump calls so; one of the same dump before those of others."""
        found = [known for known in self._ids.get(recorded.given_id or "", []) if known.task_id == recorded.task_id]
        own = [known for known in found if known.dump == recorded.source.file.dump]
        return next(iter(own or found), None)

    def _of_policy(self, task_id: str, policy: str) -> list[Known]:
        """Rollouts of the task by the policy, if all of them are of one run."""
        found = [
            known for known in self._tasks.get(task_id, [])
            if (known.policy is not None or known.spellings) and known.may_be_of(policy)
        ]  # fmt: skip
        return found if len({known.run for known in found}) == 1 else []


def _fits(known: Known, recorded: Recorded) -> bool:
    if recorded.attempt is not None and known.attempt != recorded.attempt:
        return False
    return recorded.policy is None or known.may_be_of(recorded.policy)


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
