"""What a model-driven judge is given of one rollout, and what it says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rubrics.records.models import Usage
from rubrics.records.rollouts import Rollout
from rubrics.records.rubrics import Kind, Rubric
from rubrics.records.tasks import Task


@dataclass(frozen=True, slots=True)
class Case:
    """One rollout to be judged once. It has no field for anything sealed."""

    task: Task
    rollout: Rollout
    rubrics: Mapping[Kind, Rubric]
    """Only criteria of method `judge` are asked about; a rubric without any is left out."""
    tests: str | None = None
    """Ids and statuses of the tests that were run, one a line; null when nobody ran them. Never a log."""
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where evidence stands. `quote` stands there, word for word but for blanks."""

    place: str
    """`patch:<path>:<line>` (line of the new file; of the old one for removed lines), `transcript:<turn>` from 0,
    `run:<number>` (the number of a command that the judge ran, from 0)."""
    quote: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of one criterion."""

    kind: Kind
    criterion_id: str
    level: str
    """One of the criterion's scale."""
    value: float
    """Place of the level in the scale, from 0 (worst) to 1 (best)."""
    reason: str
    evidence: tuple[Pointer, ...]


@dataclass(frozen=True, slots=True)
class Addressed:
    """Text in the rollout that speaks to whoever grades; what the guard question of every judge call found."""

    reason: str
    evidence: tuple[Pointer, ...]
    """Never empty: without evidence that resolves there is no finding."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that a judge ran, and what it printed."""

    command: str
    output: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """All verdicts of one judge on one rollout in one repeat: the complete set, or none and a failure class."""

    rollout_id: str
    judge: str
    """Kind and model as the person named them: `single:<model>`, `agent:<model>`."""
    repeat: int
    verdicts: tuple[Verdict, ...]
    addressed: Addressed | None = None
    failure_class: str | None = None
    """Kind of the `ModelError` or `InfraError`; then there are no verdicts."""
    detail: str = ""
    model: str | None = None
    """The model that answered, by its own word."""
    prompt_digest: str = ""
    """Digest of the templates that made the prompt."""
    parts: tuple[str, ...] = ()
    """Where the criteria were split over several calls: the ids of each call, joined by commas."""
    rung: str | None = None
    """Rung of the environment that was entered; null when none was."""
    commands: tuple[str, ...] = ()
    calls: int = 0
    """Requests really sent."""
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    seconds: float = 0.0
    from_cache: bool = False
