"""Verdicts of a judge: their schema, and the strict reader of a whole set.

`{"addressed_to_grader": {reason, found, evidence}, "verdicts": {<name>: {reason, level, evidence}, ...}}`.
Every criterion that was asked has exactly one verdict, under its exact name, at a level of its own scale. Every level
but the worst rests on at least one pointer (the worst may be for want of anything to point at); every pointer resolves.
Text that addresses the grader is reported with evidence, or it is not found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rubrics.records.judgements import Addressed, Verdict
from rubrics.records.rubrics import KINDS, Criterion, Kind, Rubric
from rubrics.replies import shape
from rubrics.replies.evidence import Resolve, read_evidence
from rubrics.replies.json_text import read_object
from rubrics.replies.kinds import unusable
from rubrics.replies.schemas import BOOL, EVIDENCE, POINTERS, TEXT, Schema, closed, defining, words

GUARD = "addressed_to_grader"


@dataclass(frozen=True, slots=True)
class Ask:
    """One criterion that a judge is asked about."""

    name: str
    """By which the reply names it: unique among all criteria of the rollout."""
    kind: Kind
    criterion: Criterion


@dataclass(frozen=True, slots=True)
class VerdictSet:
    """What one reply says: a verdict for every criterion asked, in the order of the asks."""

    verdicts: tuple[Verdict, ...]
    addressed: Addressed | None
    """Null when nothing in the rollout speaks to the grader."""


def asks_of(rubrics: Mapping[Kind, Rubric]) -> tuple[Ask, ...]:
    """The criteria of method `judge` of both rubrics, solution first. A name is the criterion's id, or `<kind>/<id>`
    where both rubrics ask about a criterion of that id. Calls that are split ask for slices of this."""
    judged = [
        (kind, criterion)
        for kind in KINDS
        if kind in rubrics
        for criterion in rubrics[kind].criteria
        if criterion.method == "judge"
    ]
    ids = [criterion.id for _, criterion in judged]
    return tuple(Ask(_name(kind, item.id, ids), kind, item) for kind, item in judged)


def _name(kind: Kind, criterion_id: str, ids: Sequence[str]) -> str:
    return criterion_id if ids.count(criterion_id) == 1 else f"{kind}/{criterion_id}"


def verdict_schema(asks: Sequence[Ask]) -> Schema:
    """What a reply to these asks looks like, for the provider's strict mode or as the parameters of a tool."""
    verdicts = {
        ask.name: closed({"reason": TEXT, "level": words(ask.criterion.scale), "evidence": EVIDENCE}) for ask in asks
    }
    guard = closed({"reason": TEXT, "found": BOOL, "evidence": EVIDENCE})
    return defining(closed({GUARD: guard, "verdicts": closed(verdicts)}), evidence=POINTERS)


def read_verdicts(text: str, asks: Sequence[Ask], resolve: Resolve) -> VerdictSet:
    """The complete set of verdicts that the reply consists of. Raises `UnusableReply`, see `kinds.py`."""
    reply = read_object(text, "verdicts", "repeated_criterion")
    guard, verdicts = shape.fields(reply, (GUARD, "verdicts"), ())
    addressed = _addressed(guard, resolve)
    values = shape.complete(verdicts, [ask.name for ask in asks], "criterion", ("verdicts",))
    return VerdictSet(tuple(_verdict(a, v, resolve) for a, v in zip(asks, values, strict=True)), addressed)


def _addressed(value: Any, resolve: Resolve) -> Addressed | None:
    why, found, evidence = shape.fields(value, ("reason", "found", "evidence"), (GUARD,))
    why = shape.reason(why, (GUARD, "reason"), ("true", "false"))
    found = shape.yes_or_no(found, (GUARD, "found"))
    pointers = read_evidence(evidence, (GUARD, "evidence"), resolve)
    if found and not pointers:
        raise unusable("no_evidence", f"{GUARD}: found, but no evidence; point at the text, or say false")
    return Addressed(why, pointers) if found else None


def _verdict(ask: Ask, value: Any, resolve: Resolve) -> Verdict:
    place, scale = ("verdicts", ask.name), ask.criterion.scale
    why, level, evidence = shape.fields(value, ("reason", "level", "evidence"), place)
    level = shape.one_of(level, scale, (*place, "level"), "off_scale")
    why = shape.reason(why, (*place, "reason"), (ask.name, *scale))
    pointers = read_evidence(evidence, (*place, "evidence"), resolve)
    rank = scale.index(level)
    if rank and not pointers:
        raise unusable("no_evidence", f"{shape.at(place)}: level {level!r} without evidence; point at what it rests on")
    return Verdict(ask.kind, ask.criterion.id, level, rank / (len(scale) - 1), why, pointers)
