"""Lint of a criterion's form, alone: rule, method, scale, weight, id. Pure."""

from __future__ import annotations

import re

from rubrics.authors.lint_records import Ground, Wrong
from rubrics.errors import RubricError
from rubrics.records.rubrics import Criterion, Kind

HEAVIEST = 10.0
"""Largest weight: weights are relative, and one scale is easier to review."""
MOST_LEVELS = 5
LONGEST_LEVEL = 40
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_GOOD = frozenset({"met", "yes", "full", "fully", "true", "pass", "complete", "all", "always", "good"})
_BAD = frozenset({"unmet", "no", "none", "false", "fail", "missing", "absent", "never", "bad", "not met"})


def rule(kind: Kind, criterion: Criterion, ground: Ground) -> Wrong | None:
    """A rule that may be evaluated; what the evaluator says of it goes to the author."""
    if criterion.method != "rule":
        return None
    if not criterion.rule:
        return Wrong("method rule without a rule", "Write an expression over the vocabulary, or ask a judge")
    try:
        names = ground.check_rule(criterion.rule, kind, criterion.id)
    except RubricError as error:
        return Wrong(f"its rule is refused: {str(error).rstrip('.')}", f"Use the vocabulary of {kind} rules only")
    return None if names else Wrong("its rule names no fact, so it is the same for all", "Name what it depends on")


def method(kind: Kind, criterion: Criterion, ground: Ground) -> Wrong | None:
    """A rule, or a question for a judge; nothing else can be answered."""
    if criterion.method == "run":
        return Wrong("method run is not answered by anything yet", "Use method rule or method judge")
    if criterion.method == "judge" and criterion.rule:
        return Wrong("it has a rule and asks a judge", "Drop one of the two")
    if criterion.gate and criterion.method == "judge":
        return Wrong("a judge's word alone may not set a whole score to 0", "Drop the gate, or make it a rule")
    return None


def scale(kind: Kind, criterion: Criterion, ground: Ground) -> Wrong | None:
    """Two to five different levels, worst first; a rule has none of its own."""
    levels = criterion.scale
    if criterion.method == "rule":
        return (
            None
            if levels == ("unmet", "met")
            else Wrong("a rule has no scale", "Drop the scale: the rule is the value")
        )
    if not 2 <= len(levels) <= MOST_LEVELS or len({level.strip().lower() for level in levels}) < len(levels):
        return Wrong(f"its scale is {list(levels)}", f"Give 2 to {MOST_LEVELS} different levels, worst first")
    if any(not level.strip() or len(level) > LONGEST_LEVEL or "\n" in level for level in levels):
        return Wrong("a level of its scale is empty or long", f"Name each level in at most {LONGEST_LEVEL} characters")
    if levels[0].strip().lower() in _GOOD or levels[-1].strip().lower() in _BAD:
        return Wrong(f"its scale {list(levels)} begins with the best level", "Order the levels worst first")
    if len(levels) > 2 and not (criterion.guidance or "").strip():
        return Wrong("a scale of more than two levels without a guidance", "Say what each level looks like")
    return None


def weight(kind: Kind, criterion: Criterion, ground: Ground) -> Wrong | None:
    """Above 0, at most 10."""
    if 0 < criterion.weight <= HEAVIEST:
        return None
    return Wrong(f"its weight is {criterion.weight:g}", f"Give a weight above 0 and at most {HEAVIEST:g}")


def well_named(kind: Kind, criterion: Criterion, ground: Ground) -> Wrong | None:
    """Lower-case words joined by hyphens."""
    if _ID.fullmatch(criterion.id):
        return None
    return Wrong(f"its id is {criterion.id!r}", "Name it in lower-case words joined by '-'")
