"""What a round says of each candidate, put together from its slices and shared by equal patches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rubrics.ranking.bias import weight
from rubrics.records.rankings import FLAGS

OF_THE_ATTEMPT = frozenset({"severe_process_issue"})
"""Flags that rest on how an attempt went; the others rest on its patch alone, as the checks do."""
WIDEST = 20
"""Points of W (of 100) by which an anchor may differ between slices: one level of each check. With more the judge
did not keep its scale, and the slices of that round cannot be compared."""


@dataclass(frozen=True, slots=True)
class Marks:
    """One candidate in one round."""

    checks: tuple[int, ...]
    """Five levels from 1 to 5: approach, precision, minimality, side effects, craftsmanship."""
    flags: frozenset[str]
    """Names of `FLAGS` that the judge gave evidence for."""
    evidence: Mapping[str, Any]
    """`reason`, `checks` (where they rest) and each flag (where it shows), as plain JSON."""


def put_together(slices: Sequence[Mapping[int, Marks]]) -> dict[int, Marks]:
    """Marks of every candidate of a round; one that stands in several slices, an anchor, gets their lower median."""
    found: dict[int, list[Marks]] = defaultdict(list)
    for marked in slices:
        for candidate, marks in marked.items():
            found[candidate].append(marks)
    return {candidate: _middle(several) for candidate, several in found.items()}


def anchor_gap(slices: Sequence[Mapping[int, Marks]], anchors: Iterable[int]) -> int | None:
    """The largest difference, in points of W, of an anchor between slices; null without anchors."""
    gaps = []
    for anchor in anchors:
        weights = [weight(marked[anchor].checks) for marked in slices]
        gaps.append(max(weights) - min(weights))
    return max(gaps, default=None)


def shared(marks: Mapping[int, Marks], patches: Sequence[Hashable]) -> dict[int, Marks]:
    """Equal patches get equal checks and equal flags, but for flags that rest on how the attempt went.

    `patches` holds one value per candidate, equal for patches that differ in nothing that matters. Checks become the
    lower median of those with equal patches, flags what more than half of them have.
    """
    alike: dict[Hashable, list[int]] = defaultdict(list)
    for candidate in marks:
        alike[patches[candidate]].append(candidate)
    found = {}
    for candidates in alike.values():
        common = _middle([marks[candidate] for candidate in candidates])
        for candidate in candidates:
            found[candidate] = _with_own(common, marks[candidate])
    return found


def _with_own(common: Marks, own: Marks) -> Marks:
    flags = (common.flags - OF_THE_ATTEMPT) | (own.flags & OF_THE_ATTEMPT)
    evidence = {name: said for name, said in common.evidence.items() if name not in OF_THE_ATTEMPT}
    evidence |= {name: said for name, said in own.evidence.items() if name in OF_THE_ATTEMPT or name not in FLAGS}
    return replace(common, flags=flags, evidence=evidence)


def _middle(several: Sequence[Marks]) -> Marks:
    """Lower medians of the checks, majorities of the flags; evidence of the first that has some."""
    if len(several) == 1:
        return several[0]
    place = (len(several) - 1) // 2
    checks = tuple(sorted(levels)[place] for levels in zip(*(marks.checks for marks in several), strict=True))
    votes = {name: sum(name in marks.flags for marks in several) for name in FLAGS}
    flags = frozenset(name for name, count in votes.items() if 2 * count > len(several))
    evidence: dict[str, Any] = {}
    for marks in reversed(several):
        evidence |= {name: said for name, said in marks.evidence.items() if name in flags or name not in FLAGS}
    return Marks(checks, flags, evidence)
