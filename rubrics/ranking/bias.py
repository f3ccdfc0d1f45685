"""How much the place in which a candidate was shown moved its marks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

from rubrics.records.rankings import WEIGHTS


@dataclass(frozen=True, slots=True)
class Shown:
    """One candidate in one usable round."""

    candidate: Hashable
    position: int
    """From 0."""
    weight: int
    """W of its checks in this round."""
    table: Hashable
    """Those compared at once: group and slice."""


@dataclass(frozen=True, slots=True)
class Bias:
    """What standing in one position is worth."""

    position: int
    entries: int
    """Times that a candidate stood there."""
    points: float | None
    """Points of W; null when no candidate stood both there and elsewhere."""
    standardized: float | None
    """The same in standard deviations of W among those compared at once; null also where all W are equal."""


def weight(checks: Sequence[int]) -> int:
    """W = 6 approach + 5 precision + 4 minimality + 3 side effects + 2 craftsmanship."""
    return sum(w * check for w, check in zip(WEIGHTS, checks, strict=True))


def position_bias(shown: Iterable[Shown]) -> list[Bias]:
    """For each position, the W of a candidate there less its W elsewhere.

    The least-squares effect of the position with one level per candidate, so that which candidates happened to stand
    there does not matter: sum(x (W - mean W)) / sum(x^2), with x = 1 there and 0 elsewhere, less its candidate's mean.
    """
    entries = list(shown)
    spread = _spreads(entries)
    own: dict[Hashable, list[Shown]] = defaultdict(list)
    for entry in entries:
        own[entry.table, entry.candidate].append(entry)
    return [_bias(position, own, spread) for position in sorted({entry.position for entry in entries})]


def _bias(position: int, own: dict[Hashable, list[Shown]], spread: dict[Hashable, float]) -> Bias:
    count, points, standardized, total, total_spread = 0, 0.0, 0.0, 0.0, 0.0
    for rounds in own.values():
        there = [entry.position == position for entry in rounds]
        share = sum(there) / len(rounds)
        count += sum(there)
        moved = sum((x - share) * entry.weight for x, entry in zip(there, rounds, strict=True))
        squares = sum((x - share) ** 2 for x in there)
        points, total = points + moved, total + squares
        if deviation := spread[rounds[0].table]:
            standardized, total_spread = standardized + moved / deviation, total_spread + squares
    return Bias(
        position, count, points / total if total else None, standardized / total_spread if total_spread else None
    )


def _spreads(entries: Iterable[Shown]) -> dict[Hashable, float]:
    """Standard deviation of W at each table, over all its rounds."""
    tables: dict[Hashable, list[int]] = defaultdict(list)
    for entry in entries:
        tables[entry.table].append(entry.weight)
    found = {}
    for table, weights in tables.items():
        mean = sum(weights) / len(weights)
        found[table] = sqrt(sum((w - mean) ** 2 for w in weights) / len(weights))
    return found
