"""The one interface of authors, and what they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from rubrics.records.rubrics import Rubric


@dataclass(frozen=True, slots=True)
class Brief:
    """What an author may know of a task. It has no field for anything sealed."""

    task_id: str
    spec: str | None
    has_repository: bool
    """A repository or an image stands behind the task."""


@dataclass(frozen=True, slots=True)
class StudiedAttempt:
    """One studied attempt: its outcome, its facts, and its contrasts with the *other* studied ones."""

    rollout_id: str
    passed: bool
    facts: Mapping[str, Any]
    contrasts: Mapping[str, Any]


class Author(Protocol):
    """Writes the two rubrics of a task."""

    name: str

    def write(self, brief: Brief, studied: tuple[StudiedAttempt, ...], study_digest: str) -> tuple[Rubric, Rubric]:
        """The solution rubric and the behavior rubric. Either may have no criteria, and then says why."""
