"""The one interface of authors, and what they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from rubrics.records.rollouts import Rollout
from rubrics.records.rubrics import Rubric
from rubrics.records.tasks import Task


@dataclass(frozen=True, slots=True)
class Brief:
    """What an author may know of a task. It has no field for anything sealed."""

    task_id: str
    spec: str | None
    has_repository: bool
    """A repository or an image stands behind the task."""
    task: Task | None = None
    """The task's record, for an author that enters its environment; null: the task has no row."""


@dataclass(frozen=True, slots=True)
class StudiedAttempt:
    """One studied attempt: its outcome, its facts, and its contrasts with the *other* studied ones."""

    rollout_id: str
    passed: bool
    facts: Mapping[str, Any]
    contrasts: Mapping[str, Any]
    rollout: Rollout | None = None
    """Patch and transcript, for an author that reads them; null for one that does not."""
    tests: str | None = None
    """Ids and statuses of its tests, one a line; null when nobody ran them. Never a log."""


class Author(Protocol):
    """Writes the two rubrics of a task."""

    name: str

    def write(self, brief: Brief, studied: tuple[StudiedAttempt, ...], study_digest: str) -> tuple[Rubric, Rubric]:
        """The solution rubric and the behavior rubric. Either may have no criteria, and then says why.

        An author that asks a model raises `ModelError` when nothing usable came of it, `InfraError` when the task's
        environment broke under it: then the task gets no rubric from it, nor from another author instead.
        """
