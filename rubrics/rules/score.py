"""Score of a rubric from the values of its criteria (design section 3). Pure."""

from __future__ import annotations

from collections.abc import Sequence


def rubric_score(values: Sequence[float | None], weights: Sequence[float], gates: Sequence[bool]) -> float | None:
    """sum(w * v) / sum(w), with v in [0, 1].

    Null when any value is null (no partial averages), else 0 when a gate is not fully met. Raises
    `ValueError` without criteria: an empty rubric has no score.
    """
    if not values:
        raise ValueError("a rubric without criteria has no score: it is no factor")
    if any(value is None for value in values):
        return None
    known = [value for value in values if value is not None]
    if any(gate and value < 1 for gate, value in zip(gates, known, strict=True)):
        return 0.0
    return sum(weight * value for weight, value in zip(weights, known, strict=True)) / sum(weights)
