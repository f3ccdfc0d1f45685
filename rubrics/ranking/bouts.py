"""What is put before a ranker, and what it says of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from rubrics.ranking.marks import Marks
from rubrics.records.models import Usage
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Task


@dataclass(frozen=True, slots=True)
class Candidate:
    """An attempt under its label. It has no field for anything sealed."""

    label: str
    rollout: Rollout
    tests: str | None = None
    """Ids and statuses of its tests, `<status> <id>` a line; never a log."""


@dataclass(frozen=True, slots=True)
class Bout:
    """One comparison: a slice of a group in one round."""

    task: Task
    candidates: tuple[Candidate, ...]
    """Passing attempts, in the order in which they are shown."""
    failures: tuple[Candidate, ...]
    """Failed attempts of the group, for context."""
    round: int = 0
    slice: int = 0

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(candidate.label for candidate in self.candidates)

    @property
    def everyone(self) -> tuple[Candidate, ...]:
        return self.candidates + self.failures


@dataclass(frozen=True, slots=True)
class Heard:
    """Marks for every candidate of a bout in their order, or none and why."""

    judge: str
    """Kind and model as the person named them: `single:<model>`, `agent:<model>`."""
    marks: tuple[Marks, ...] = ()
    no_difference: bool | None = None
    reason: str = ""
    """How the candidates differ."""
    failure_class: str | None = None
    """Kind of the `ModelError` or `InfraError`; then there are no marks."""
    detail: str = ""
    model: str | None = None
    """The model that answered, by its own word."""
    prompt_digest: str = ""
    rung: str | None = None
    """Rung of the workspace; null when none was entered."""
    calls: int = 0
    """Requests really sent."""
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
