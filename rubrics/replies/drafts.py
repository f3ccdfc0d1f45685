"""An author's submission of both rubrics: schema and strict reader. Only the shape; the lint is the author's.

`{"solution": {note, criteria: [...]}, "behavior": {...}}`; every field of a criterion is there, null where it has none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from rubrics.records.rubrics import KINDS, Kind
from rubrics.replies import shape
from rubrics.replies.json_text import read_object
from rubrics.replies.kinds import unusable
from rubrics.replies.schemas import BOOL, NUMBER, TEXT, Schema, closed, listed, or_null, words

MAX_CRITERIA = 40
"""Of one rubric."""
MAX_WEIGHT = 10.0
LEVELS = (2, 5)
"""Fewest and most levels of a scale."""
MAX_ID = 60
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_FILE_LINE = re.compile(r"[^\x00-\x1f\x7f]+:[1-9][0-9]{0,8}")

AnchorKind = Literal["spec", "file", "none"]
ANCHORS: tuple[AnchorKind, ...] = ("spec", "file", "none")
DraftMethod = Literal["rule", "judge"]
METHODS: tuple[DraftMethod, ...] = ("rule", "judge")
_FIELDS = (
    "rests_on", "anchor", "id", "text", "guidance", "method", "rule", "scale", "gate", "fault", "weight",
)  # fmt: skip
"""In the order in which they are written: what it rests on comes before what is made of it."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """What justifies a criterion."""

    kind: AnchorKind
    place: str | None
    """`<path>:<line>` in the repository; null but for kind `file`."""
    quote: str | None
    """Words of the spec or of the file; null for kind `none`. Not yet checked."""


@dataclass(frozen=True, slots=True)
class DraftCriterion:
    """A criterion as an author submits it."""

    id: str
    """Lower-case words joined by `-`; unique in its rubric."""
    text: str
    guidance: str | None
    method: DraftMethod
    rule: str | None
    """Not null exactly for method `rule`; not yet checked against the language of rules."""
    scale: tuple[str, ...]
    """2 to 5 different levels, worst first."""
    gate: bool
    fault: str | None
    weight: float
    """Above 0, at most `MAX_WEIGHT`."""
    anchor: Anchor
    rests_on: tuple[str, ...]
    """Labels of studied attempts, each once; may be empty."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One rubric as submitted."""

    note: str
    criteria: tuple[DraftCriterion, ...]
    """At most `MAX_CRITERIA`; may be empty."""


def draft_schema(labels: Sequence[str]) -> Schema:
    """The schema of a submission that may refer to attempts by these labels."""
    anchor = closed({"kind": words(ANCHORS), "place": or_null(TEXT), "quote": or_null(TEXT)})
    types = {
        "rests_on": listed(words(labels) if labels else TEXT), "anchor": anchor, "id": TEXT, "text": TEXT,
        "guidance": or_null(TEXT), "method": words(METHODS), "rule": or_null(TEXT), "scale": listed(TEXT), "gate": BOOL,
        "fault": or_null(TEXT), "weight": NUMBER,
    }  # fmt: skip
    rubric = closed({"note": TEXT, "criteria": listed(closed({name: types[name] for name in _FIELDS}))})
    return closed(dict.fromkeys(KINDS, rubric))


def read_drafts(text: str, labels: Sequence[str]) -> Mapping[Kind, Draft]:
    """Both rubrics of a submission. Raises `UnusableReply`, see `kinds.py`."""
    values = shape.fields(read_object(text), KINDS, ())
    return {kind: _draft(kind, value, labels) for kind, value in zip(KINDS, values, strict=True)}


def _draft(kind: Kind, value: Any, labels: Sequence[str]) -> Draft:
    note, criteria = shape.fields(value, ("note", "criteria"), (kind,))
    note = shape.reason(note, (kind, "note"))
    listed_criteria = shape.items(criteria, (kind, "criteria"), MAX_CRITERIA)
    drafted = tuple(_criterion((kind, "criteria", i), item, labels) for i, item in enumerate(listed_criteria))
    _once([item.id for item in drafted], "repeated_criterion", (kind, "criteria"))
    return Draft(note, drafted)


def _criterion(place: shape.Place, value: Any, labels: Sequence[str]) -> DraftCriterion:
    given = dict(zip(_FIELDS, shape.fields(value, _FIELDS, place), strict=True))
    at = {name: (*place, name) for name in _FIELDS}
    name = shape.text(given["id"], at["id"])
    if len(name) > MAX_ID or not _ID.fullmatch(name):
        wanted = f"lower-case words joined by '-', at most {MAX_ID} characters"
        raise unusable("shape", f"{shape.at(at['id'])} is {shape.shown(name)}; wanted {wanted}")
    method = cast(DraftMethod, shape.one_of(given["method"], METHODS, at["method"]))
    rule = shape.text_or_null(given["rule"], at["rule"])
    if (rule is not None) != (method == "rule"):
        raise unusable("shape", f"{shape.at(at['rule'])} is {shape.shown(rule)}; wanted a rule exactly for method rule")
    return DraftCriterion(
        id=name,
        text=shape.reason(given["text"], at["text"], (name,)),
        guidance=shape.text_or_null(given["guidance"], at["guidance"]),
        method=method,
        rule=rule,
        scale=_scale(given["scale"], at["scale"]),
        gate=shape.yes_or_no(given["gate"], at["gate"]),
        fault=shape.text_or_null(given["fault"], at["fault"]),
        weight=shape.above_zero(given["weight"], MAX_WEIGHT, at["weight"]),
        anchor=_anchor(given["anchor"], at["anchor"]),
        rests_on=_rests_on(given["rests_on"], labels, at["rests_on"]),
    )


def _scale(value: Any, place: shape.Place) -> tuple[str, ...]:
    levels = tuple(shape.text(level, place) for level in shape.items(value, place))
    if not LEVELS[0] <= len(levels) <= LEVELS[1] or len(
        {" ".join(level.casefold().split()) for level in levels}
    ) != len(levels):
        raise unusable("shape", f"{shape.at(place)}: wanted {LEVELS[0]} to {LEVELS[1]} different levels, worst first")
    return levels


def _anchor(value: Any, place: shape.Place) -> Anchor:
    kind, where, quote = shape.fields(value, ("kind", "place", "quote"), place)
    kind = cast(AnchorKind, shape.one_of(kind, ANCHORS, (*place, "kind")))
    where, quote = shape.text_or_null(where, (*place, "place")), shape.text_or_null(quote, (*place, "quote"))
    if (quote is not None) != (kind != "none"):
        raise unusable(
            "shape", f"{shape.at(place)}.quote is {shape.shown(quote)}; wanted a quote, but null for kind none"
        )
    if (where is not None) != (kind == "file") or (where is not None and not _FILE_LINE.fullmatch(where)):
        raise unusable(
            "shape", f"{shape.at(place)}.place is {shape.shown(where)}; wanted <path>:<line> exactly for kind file"
        )
    return Anchor(kind, where, quote)


def _rests_on(value: Any, labels: Sequence[str], place: shape.Place) -> tuple[str, ...]:
    named = tuple(shape.one_of(label, labels, place, "unknown_candidate") for label in shape.items(value, place))
    _once(named, "repeated_candidate", place)
    return named


def _once(names: Sequence[str], kind: str, place: shape.Place) -> None:
    for name in names:
        if names.count(name) > 1:
            raise unusable(kind, f"{shape.at(place)} names {shape.shown(name)} twice; name it once")
