"""The lint of a model's draft: what a criterion must be before it is tried. Pure.

Covered: one demand, checkable words, an anchor that stands where it is said to stand, no accident of one solution, no
copy, nothing countable left to a judge, rules that may be evaluated, weights, ids, scales, the right rubric, no twin.
Not covered: whether the requirement is true. The trial on the studied attempts says more of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from rubrics.authors import lint_beside, lint_form, lint_ground, lint_sides, lint_words
from rubrics.authors.lint_records import Finding, Ground, Wrong
from rubrics.records.rubrics import KINDS, Criterion, Kind

__all__ = ["CRITERION_RULES", "Finding", "Ground", "Wrong", "lint"]

CRITERION_RULES: Mapping[str, Callable[[Kind, Criterion, Ground], Wrong | None]] = {
    "short": lint_words.short,
    "atomic": lint_words.atomic,
    "checkable": lint_words.checkable,
    "neutral": lint_words.neutral,
    "countable": lint_sides.countable,
    "side": lint_sides.side,
    "outcome": lint_sides.outcome,
    "anchor": lint_ground.anchored,
    "accident": lint_ground.accident,
    "copy": lint_ground.copied,
    "sealed": lint_ground.copies_sealed,
    "rule": lint_form.rule,
    "method": lint_form.method,
    "scale": lint_form.scale,
    "weight": lint_form.weight,
    "id": lint_form.well_named,
}
"""Each says what is wrong with one criterion, null when nothing is."""

RUBRIC_RULES: Mapping[str, Callable[[Kind, Sequence[Criterion]], Iterator[tuple[int, Wrong]]]] = {
    "unique": lint_beside.unique,
    "duplicate": lint_beside.duplicates,
    "share": lint_beside.shares,
    "guards": lint_beside.guards_weigh_little,
    "many": lint_beside.too_many,
}
"""Each names the criteria, by their places, that are wrong beside the others."""


def lint(draft: Mapping[Kind, Sequence[Criterion]], ground: Ground) -> list[Finding]:
    """All that is wrong with a draft, criterion by criterion, in the order of the draft."""
    found: list[Finding] = []
    for kind in KINDS:
        criteria = draft.get(kind, ())
        for place, criterion in enumerate(criteria):
            found += [
                Finding(kind, place, criterion.id, name, wrong) for name, wrong in _alone(kind, criterion, ground)
            ]
        found += [
            Finding(kind, place, criteria[place].id, name, wrong)
            for name, check in RUBRIC_RULES.items()
            for place, wrong in check(kind, criteria)
        ]
    return sorted(found, key=lambda item: (KINDS.index(item.kind), item.place))


def _alone(kind: Kind, criterion: Criterion, ground: Ground) -> Iterator[tuple[str, Wrong]]:
    """What is wrong with one criterion. One that is too long is not looked at further."""
    too_long = lint_words.short(kind, criterion, ground)
    if too_long is not None:
        yield "short", too_long
        return
    for name, check in CRITERION_RULES.items():
        wrong = check(kind, criterion, ground)
        if wrong is not None:
            yield name, wrong
