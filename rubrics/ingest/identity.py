"""Ids of rollouts: what makes two attempts one, and which attempt of a run this is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from rubrics.digests import digest128
from rubrics.ingest.items import Attempt
from rubrics.ingest.patches import comparable
from rubrics.records.outcomes import Outcome

_Sampling = tuple[str, str | None, str, int | None]


@dataclass(frozen=True, slots=True)
class Identity:
    rollout_id: str
    content_digest: str
    attempt: int
    duplicate_of: str | None


@dataclass(slots=True)
class Known:
    """What is remembered of a rollout that was passed on: enough to find it again."""

    rollout_id: str
    task_id: str
    run: str
    attempt: int
    patch: str
    """Key of its patch (`patch_key`)."""
    given_id: str | None
    dump: int
    policy: str | None
    spellings: set[str] = field(default_factory=set)
    """Further names that its policy has in the dumps."""
    outcomes: list[Outcome] = field(default_factory=list)

    @classmethod
    def of(cls, attempt: Attempt, rollout_id: str, index: int) -> Known:
        return cls(
            rollout_id,
            attempt.task_id,
            attempt.run,
            index,
            patch_key(attempt.patch),
            attempt.given_id,
            attempt.source.file.dump,
            attempt.policy,
        )

    def may_be_of(self, policy: str) -> bool:
        """Whether the rollout may be the policy's: `/` is written `__` in folder names; unknown fits all."""
        names = {name.replace("/", "__") for name in (self.policy, *self.spellings) if name is not None}
        return not names or policy.replace("/", "__") in names


class Identities:
    """Gives ids. An attempt that another dump gave before has none; equal attempts of one dump are several."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], str] = {}
        self._given: set[str] = set()
        self._taken: Counter[_Sampling] = Counter()
        self._all: Counter[tuple[_Sampling, str]] = Counter()
        self._dump: Counter[tuple[_Sampling, str, int]] = Counter()

    def of(self, attempt: Attempt, transcript: str | None) -> Identity | None:
        """The attempt's identity; null when it is one that was given before."""
        content = digest128([attempt.patch, transcript])
        sampling = (attempt.task_id, attempt.policy, attempt.run, attempt.policy_step)
        index = attempt.attempt
        if index is None:
            index = self._ordinal(sampling, content, attempt.source.file.dump)
        if index is None:
            return None
        rollout_id = digest128([*sampling, index, attempt.patch, transcript])
        if rollout_id in self._given:
            return None
        self._given.add(rollout_id)
        says_nothing = attempt.patch is None and transcript is None
        first = rollout_id if says_nothing else self._first.setdefault((attempt.task_id, content), rollout_id)
        return Identity(rollout_id, content, index, None if first == rollout_id else first)

    def _ordinal(self, sampling: _Sampling, content: str, dump: int) -> int | None:
        """Number among the attempts of one sampling; null for the n-th copy when n were given by other dumps."""
        self._dump[sampling, content, dump] += 1
        if self._dump[sampling, content, dump] <= self._all[sampling, content]:
            return None
        self._all[sampling, content] += 1
        self._taken[sampling] += 1
        return self._taken[sampling] - 1


def patch_key(patch: str | None) -> str:
    """Short key of a patch, equal for patches that differ in the blank lines around them alone."""
    text = comparable(patch)
    return digest128([text]) if text else ""


def group_of(attempt: Attempt, group_by: str) -> str:
    """Group of an attempt whose dump names none: its task and policy step, and its policy where asked for."""
    parts = [attempt.task_id]
    if attempt.policy_step is not None:
        parts.append(f"step={attempt.policy_step}")
    if group_by == "task,policy":
        parts.append(f"policy={attempt.policy or ''}")
    return "#".join(parts)
