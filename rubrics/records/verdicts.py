"""What a judge says of one criterion over the rollouts of a task."""

from __future__ import annotations

from dataclasses import dataclass

from rubrics.records.rubrics import Criterion, Kind


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Verdicts of one criterion, one per rollout, in the order of the rollouts."""

    rubric_digest: str
    criterion: Criterion
    kind: Kind
    values: tuple[float | None, ...]
    """In [0, 1]; null when unknown."""
    failures: tuple[str | None, ...]
    """Why a value is null: `no_patch`, `no_transcript`, `null_rule`, `out_of_range`, `needs_judge`."""
    reason: str
    evidence: str
    """JSON list of pointers: `fact:<name>` for every measurement the rule names."""
