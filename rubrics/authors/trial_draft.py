"""Trial of a draft on the studied attempts: what tells them apart, what passing ones contradict, what is a twin. Pure.

The builtin author decides by `trial.py` alone; a model's criteria, which may rest on the spec, are told why first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation

from rubrics.authors.lint_records import Finding, Wrong
from rubrics.authors.trial import MIN_GAP, Column, tried
from rubrics.records.rubrics import Criterion, Kind

TWIN = 0.9
"""Correlation over the studied attempts from which two criteria say the same (peers.md: rubric-reward-lens)."""
ENOUGH = 6
"""Attempts from which r alone tells twins. With fewer, two requirements that have nothing to do with each other often
agree on all of them (r of 0.9 over 4 is chance one time in ten; over 6, one in seventy), so twins are only those that
rest on the same passage."""
MET = 0.5
"""A value below which an attempt does not meet a criterion."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One criterion of a draft, and its values on the studied attempts in their order."""

    place: int
    """Position in the draft of its rubric."""
    criterion: Criterion
    values: Column | None
    """Each attempt compared with itself too, see `trial.as_model`; null when nobody could say."""
    in_spec: bool
    """Its anchor is a passage of the spec."""


def findings(kind: Kind, tested: Sequence[Tried], passed: Sequence[bool], labels: Sequence[str]) -> list[Finding]:
    """What the trial says against criteria of one rubric. A guard may be met by all; nothing else may."""
    found: dict[int, Finding] = {}
    for item in tested:
        verdict = _alone(item, passed, labels)
        if verdict is not None:
            found[item.place] = Finding(kind, item.place, item.criterion.id, *verdict)
    kept: list[Tried] = []
    for item in sorted((item for item in tested if item.place not in found), key=_preference):
        twin = next((other for other in kept if _are_twins(item, other)), None)
        if twin is None:
            kept.append(item)
        else:
            found[item.place] = Finding(kind, item.place, item.criterion.id, "twin", _twin(twin))
    return [found[place] for place in sorted(found)]


def _alone(item: Tried, passed: Sequence[bool], labels: Sequence[str]) -> tuple[str, Wrong] | None:
    if item.values is None:
        return None
    criterion = item.criterion
    known = [value for value in item.values if value is not None]
    if criterion.method == "rule" and len(known) < len(item.values):
        where = labels[list(item.values).index(None)]
        return "null", Wrong(
            f"its rule says null for {where}", "Decide with coalesce: null makes the whole score unknown"
        )
    if any(not 0 <= value <= 1 for value in known):
        return "range", Wrong("its rule leaves [0, 1]", "Bound it with least and greatest")
    if len(known) >= 2 and criterion.fault is None and max(known) - min(known) < MIN_GAP:
        what = "all attempts meet it alike" if known[0] >= MET else "no attempt meets it"
        return "flat", Wrong(
            f"{what}, so it tells none from another",
            "Sharpen it, or name the fault it guards against, or drop it",
        )
    return _contradiction(item, passed, labels)


def _contradiction(item: Tried, passed: Sequence[bool], labels: Sequence[str]) -> tuple[str, Wrong] | None:
    """A passing attempt that does not meet it, where the spec does not ask for it."""
    values = item.values or ()
    trial = tried(values, passed)
    if item.criterion.fault is not None:
        if trial.contradicted():
            return "contradicted", Wrong("passing attempts mostly have the fault it guards against", "Drop it")
        return None
    if item.in_spec:
        return None
    remedy = "Quote the passage of the spec that asks for it, or drop it"
    for value, ok, label in zip(values, passed, labels, strict=True):
        if ok and value is not None and value < MET:
            return "contradicted", Wrong(f"{label} passes and does not meet it", remedy)
    if trial.passing is not None and trial.failing is not None and trial.failing - trial.passing >= MIN_GAP:
        return "contradicted", Wrong("failing attempts meet it more than passing ones", remedy)
    return None


def _preference(item: Tried) -> tuple[bool, bool, float, int]:
    """Of twins the one is kept that the spec asks for, then one that is no guard, then the heavier, then the first."""
    return not item.in_spec, item.criterion.fault is not None, -item.criterion.weight, item.place


def _are_twins(one: Tried, other: Tried) -> bool:
    pairs = _pairs(one.values or (), other.values or ())
    found = correlated(pairs)
    same_ground = one.criterion.anchor == other.criterion.anchor
    return found is not None and found >= TWIN and (same_ground or len(pairs) >= ENOUGH)


def _pairs(one: Column, other: Column) -> list[tuple[float, float]]:
    """The values for which both are known."""
    return [(a, b) for a, b in zip(one, other, strict=False) if a is not None and b is not None]


def correlated(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's r; null with fewer than two pairs, or without variance."""
    if len(pairs) < 2:
        return None
    try:
        return correlation([a for a, _ in pairs], [b for _, b in pairs])
    except StatisticsError:
        return None


def _twin(other: Tried) -> Wrong:
    return Wrong(
        f"the studied attempts do not tell it from {other.criterion.id} (r of at least {TWIN})",
        "Merge the two, or make it see a difference that the other does not",
    )
