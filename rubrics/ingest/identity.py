"""Ids of rollouts: what makes two attempts one, and which attempt of a run this is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from rubrics.digests import digest128
from rubrics.ingest.items import Attempt
from rubrics.ingest.patches import comparable
from rubrics.ingest.predictions import HARNESS as PREDICTIONS
from rubrics.records.identity import content_digest_of, rollout_id_of
from rubrics.records.outcomes import Outcome

_Sampling = tuple[str, str | None, str, int | None]
_Content = tuple[_Sampling, str]


@dataclass(frozen=True, slots=True)
class Identity:
    rollout_id: str
    content_digest: str
    attempt: int
    duplicate_of: str | None


@dataclass(frozen=True, slots=True)
class Again:
    """An attempt that was given before."""

    rollout_id: str


@dataclass(slots=True)
class Known:
    """What is remembered of a rollout that was passed on: enough to find it again, and to say where it came from."""

    rollout_id: str
    task_id: str
    run: str
    attempt: int
    patches: frozenset[str]
    """Keys of the patches that it may have been tested with (`patch_key`): its own, that as written, its predictions'.
    Empty: its patch is not known."""
    own_patch: str | None
    given_id: str | None
    dump: int
    place: str
    policy: str | None
    own_file: bool
    """Whether it was read from a file of its own or with its transcript: predictions repeat it."""
    folders: frozenset[tuple[str, ...]]
    """Folders of the runs that it was read from."""
    spellings: frozenset[str] = frozenset()
    """Further names that its policy has in the dumps."""
    outcomes: list[Outcome] = field(default_factory=list)

    @classmethod
    def of(cls, attempt: Attempt, rollout_id: str, index: int) -> Known:
        own = None if attempt.patch is None and attempt.written is None else patch_key(attempt.patch)
        written = own if attempt.written == attempt.patch else patch_key(attempt.written)
        stated = ((own, attempt.patch), (written, attempt.written))
        return cls(
            rollout_id,
            attempt.task_id,
            attempt.run.name,
            index,
            frozenset(key for key, text in stated if key is not None and text is not None),
            own,
            attempt.given_id,
            attempt.source.file.dump,
            attempt.source.place,
            attempt.policy,
            attempt.own_file or attempt.turns is not None,
            frozenset() if attempt.run.folder is None else frozenset((attempt.run.folder,)),
        )

    @property
    def names(self) -> set[str]:
        """Names of its policy, as folders write them: `/` as `__`."""
        return {name.replace("/", "__") for name in (self.policy, *self.spellings) if name is not None}

    def may_be_of(self, policy: str) -> bool:
        """Whether the rollout may be the policy's: an unknown policy may be any."""
        return not self.names or policy.replace("/", "__") in self.names


class Identities:
    """Gives ids. An attempt that another dump gave before is `Again`; equal attempts of one dump are several.

    But a run's predictions are often written to two files: of the files in one run's folder, each copy of a row stands
    for the same attempt.
    """

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], str] = {}
        self._given: set[str] = set()
        self._taken: Counter[_Sampling] = Counter()
        self._ids: dict[_Content, list[str]] = {}
        self._of_dump: Counter[tuple[_Content, int]] = Counter()
        self._of_file: Counter[tuple[_Content, int, str]] = Counter()
        self._of_folder: dict[tuple[_Content, int, tuple[str, ...] | None], list[str]] = {}

    def of(self, attempt: Attempt, transcript: str | None) -> Identity | Again:
        """The attempt's identity, or the rollout that it is once more."""
        if attempt.unread is not None:
            transcript = f"{transcript or ''}#{attempt.unread}"
        content = content_digest_of(attempt.patch, transcript)
        sampling = (attempt.task_id, attempt.policy, attempt.run.name, attempt.policy_step)
        key, index = (sampling, content), attempt.attempt
        if index is None:
            if (known := self._known(key, attempt)) is not None:
                return Again(known)
            index = self._taken[sampling]
            self._taken[sampling] += 1
        rollout_id = rollout_id_of(*sampling, index, attempt.patch, transcript)
        if attempt.attempt is None:
            self._ids.setdefault(key, []).append(rollout_id)
            if attempt.harness == PREDICTIONS:
                self._copies(key, attempt).append(rollout_id)
        if rollout_id in self._given:
            return Again(rollout_id)
        self._given.add(rollout_id)
        says_nothing = attempt.patch is None and transcript is None
        first = rollout_id if says_nothing else self._first.setdefault((attempt.task_id, content), rollout_id)
        return Identity(rollout_id, content, index, None if first == rollout_id else first)

    def _known(self, key: _Content, attempt: Attempt) -> str | None:
        """The rollout that the attempt is a copy of; null when it is one more of its dump."""
        file, predicted = attempt.source.file, attempt.harness == PREDICTIONS
        if predicted:
            self._of_file[key, file.dump, file.relative] += 1
            copies, number = self._copies(key, attempt), self._of_file[key, file.dump, file.relative] - 1
            if number < len(copies):
                return copies[number]
        self._of_dump[key, file.dump] += 1
        given, number = self._ids.get(key, []), self._of_dump[key, file.dump] - 1
        if number >= len(given):
            return None
        if predicted:
            self._copies(key, attempt).append(given[number])
        return given[number]

    def _copies(self, key: _Content, attempt: Attempt) -> list[str]:
        """Rollouts of the content that the files of the attempt's run folder have given."""
        return self._of_folder.setdefault((key, attempt.source.file.dump, attempt.run.folder), [])


def patch_key(patch: str | None) -> str:
    """Short key of a patch, equal for patches that differ in line ends and the blank lines around them alone."""
    text = comparable(patch)
    return digest128([text]) if text else ""
