"""Groups that are too large to be compared at once, in slices that share anchors (method 3)."""

from __future__ import annotations

from dataclasses import dataclass

from rubrics.ranking.seeding import shuffled

LARGEST = 8
"""Candidates that are compared side by side at most (method 3)."""
ANCHORS = 2
"""Candidates that stand in every slice."""


@dataclass(frozen=True, slots=True)
class Slices:
    """Which candidates are shown together."""

    parts: tuple[tuple[int, ...], ...]
    """Every candidate stands in one part, an anchor in all of them."""
    anchors: tuple[int, ...]
    """Empty where there is one part."""


def slices(n: int, *seed: str | int) -> Slices:
    """One part of up to `LARGEST` candidates; of more, parts of nearly equal size, each with the same two anchors.

    Anchors and parts are drawn by the seed. Checks are absolute levels from 1 to 5 and are never scaled: what the
    anchors do is show the judge the same two candidates beside every part, and show us whether it kept its scale.
    """
    if n <= LARGEST:
        return Slices((tuple(range(n)),), ())
    drawn = shuffled(range(n), "slices", *seed)
    anchors, others = drawn[:ANCHORS], drawn[ANCHORS:]
    count = -(-len(others) // (LARGEST - ANCHORS))
    return Slices(tuple(anchors + others[number::count] for number in range(count)), anchors)
