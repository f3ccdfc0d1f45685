"""Lint of criteria beside each other: ids, twins, shares of the weight, how many. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rubrics.authors.lint_records import Wrong
from rubrics.records.rubrics import Criterion, Kind

LARGEST_SHARE = 0.5
"""Of a rubric's total, for one criterion: above it the others decide nothing."""
GUARDS_SHARE = 0.2
"""Of a solution rubric's total, for all guards together: style carries little signal (method 6)."""
MOST_CRITERIA = 16
"""Criteria of one rubric: more cost a judge attention and say little new."""
ALIKE = 0.75
"""Share of words in common from which two texts say the same."""

_WORDS = re.compile(r"\w+")
_FILLERS = frozenset(
    {
        "a", "an", "the", "is", "are", "be", "it", "its", "that", "of", "to", "in", "for", "and", "or", "must",
        "should", "when", "with", "by", "on",
    }
)  # fmt: skip


def unique(kind: Kind, criteria: Sequence[Criterion]) -> Iterator[tuple[int, Wrong]]:
    """No id twice: all but the first are wrong."""
    for place, criterion in enumerate(criteria):
        if any(other.id == criterion.id for other in criteria[:place]):
            yield place, Wrong("its id is used before", "Give each criterion its own id")


def duplicates(kind: Kind, criteria: Sequence[Criterion]) -> Iterator[tuple[int, Wrong]]:
    """No criterion that says what one before it says, by its words or by its rule."""
    for place, criterion in enumerate(criteria):
        for other in criteria[:place]:
            if _same_rule(criterion, other) or alike(criterion.text[:300], other.text[:300]) >= ALIKE:
                yield place, Wrong(f"it says what {other.id} says", "Keep one of the two")
                break


def _same_rule(one: Criterion, other: Criterion) -> bool:
    rules = [" ".join((item.rule or "").lower().split()) for item in (one, other)]
    return bool(rules[0]) and rules[0] == rules[1]


def alike(one: str, other: str) -> float:
    """Shared words as a share of all words of two texts, fillers left out; 0 when one has none."""
    ours, theirs = (set(_WORDS.findall(text.lower())) - _FILLERS for text in (one, other))
    return len(ours & theirs) / len(ours | theirs) if ours and theirs else 0.0


def shares(kind: Kind, criteria: Sequence[Criterion]) -> Iterator[tuple[int, Wrong]]:
    """No criterion above half of the total. A rubric of one criterion has nothing to compare."""
    total = sum(item.weight for item in criteria)
    for place, criterion in enumerate(criteria):
        if len(criteria) > 1 and criterion.weight > LARGEST_SHARE * total * (1 + 1e-9):
            yield (
                place,
                Wrong(
                    f"it weighs {criterion.weight:g} of {total:g}: it decides alone",
                    "Lower it to half of the total at most",
                ),
            )


def guards_weigh_little(kind: Kind, criteria: Sequence[Criterion]) -> Iterator[tuple[int, Wrong]]:
    """Guards together stay a small part of a solution rubric; the heaviest beyond it are wrong."""
    guards = sorted((item.weight, place) for place, item in enumerate(criteria) if item.fault)
    others = sum(item.weight for item in criteria if not item.fault)
    if kind == "behavior" or others <= 0:
        return
    room = GUARDS_SHARE / (1 - GUARDS_SHARE) * others
    so_far = 0.0
    for heavy, place in guards:
        so_far += heavy
        if so_far > room * (1 + 1e-9):
            yield (
                place,
                Wrong(
                    f"guards weigh more than {GUARDS_SHARE:.0%} of the rubric with it",
                    "Lower the weights of the guards",
                ),
            )


def too_many(kind: Kind, criteria: Sequence[Criterion]) -> Iterator[tuple[int, Wrong]]:
    """A bounded number of criteria: the last ones are too many."""
    for place in range(MOST_CRITERIA, len(criteria)):
        yield place, Wrong(f"it is criterion {place + 1} of at most {MOST_CRITERIA}", "Keep those that matter most")
