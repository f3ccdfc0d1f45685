"""Rubrics and their criteria."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["solution", "behavior"]
Method = Literal["rule", "judge", "run"]

KINDS: tuple[Kind, ...] = ("solution", "behavior")


@dataclass(frozen=True, slots=True)
class Criterion:
    """One requirement of a rubric."""

    id: str
    """Short name, unique in its rubric: lower-case words joined by `-`."""
    text: str
    """The requirement, for people."""
    weight: float
    """Above 0; the rubric's score is sum(weight * value) / sum(weight). Hidden from judges."""
    method: Method
    rule: str | None = None
    """SQL expression over the vocabulary (design section 3); for method `rule`."""
    command: str | None = None
    """Shell command for method `run`: met where it ends with exit code 0 in the rollout's own environment."""
    guidance: str | None = None
    """How a judge decides; for method `judge`."""
    scale: tuple[str, ...] = ("unmet", "met")
    """Ordered levels, worst to best."""
    gate: bool = False
    """A gate that is not fully met makes the rubric's score 0."""
    fault: str | None = None
    """For a guard criterion: the named fault it guards against; null for the others."""
    anchor: str | None = None
    """Quote of the spec, or file:line, that justifies it."""
    evidence: tuple[str, ...] = ()
    """The studied attempts it rests on: their rollout_ids, or the beginnings of these."""
    fared: str | None = None
    """How it did on the studied attempts, in one line."""


@dataclass(frozen=True, slots=True)
class Rubric:
    """What one task asks of a patch (`solution`) or of a transcript (`behavior`)."""

    task_id: str
    kind: Kind
    criteria: tuple[Criterion, ...]
    author: str
    """`builtin`, `edited`, or a model's name."""
    studied: tuple[str, ...]
    """rollout_ids of the attempts that were studied."""
    study_digest: str
    """Digest of the studied attempts' normalised contents and outcomes."""
    note: str
    """What the author says of the whole: what it lacked, why it holds so few criteria."""
