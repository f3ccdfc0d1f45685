"""One round of a ranking: its schema, and the strict reader of all candidates at once.

`{"candidates": {<label>: {reason, <five checks>, evidence, <four flags>}, ...}, "reason", "no_clear_difference"}`.
Every label is ranked exactly once. Checks are integers from 1 to 5. What speaks against a candidate cites something of
its own: a check of 2 or less without such evidence makes the reply unusable, a flag without it is false and noted. Own
is what carries the candidate's label, or a command that was run; pointers at other candidates may stand beside it.
Every pointer resolves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rubrics.records.judgements import Pointer
from rubrics.records.rankings import CHECKS, FLAGS
from rubrics.replies import shape
from rubrics.replies.evidence import Resolve, read_evidence
from rubrics.replies.json_text import read_object
from rubrics.replies.kinds import unusable
from rubrics.replies.schemas import BOOL, EVIDENCE, POINTERS, SCORE, TEXT, Schema, closed, defining, named

LOW = 2
"""A check up to this speaks against the candidate: the tiers of method section 3 look at 1 and 2."""

_FIELDS = ("reason", *CHECKS, "evidence", *FLAGS)


@dataclass(frozen=True, slots=True)
class Ranked:
    """What a round says of one candidate."""

    label: str
    reason: str
    checks: Mapping[str, int]
    """Each of `CHECKS`, from 1 to 5."""
    evidence: tuple[Pointer, ...]
    """What the checks rest on."""
    flags: Mapping[str, tuple[Pointer, ...]]
    """The flags that are true, each with its evidence; the others are false."""
    noted: tuple[str, ...]
    """Flags that were claimed without evidence of the candidate's own, and are false for it."""


@dataclass(frozen=True, slots=True)
class Round:
    """What one reply says of all candidates, in the order of the labels."""

    ranked: tuple[Ranked, ...]
    reason: str
    """How the candidates differ."""
    no_clear_difference: bool


def ranking_schema(labels: Sequence[str]) -> Schema:
    flag = closed({"found": BOOL, "evidence": EVIDENCE})
    scores = dict.fromkeys(CHECKS, SCORE)
    candidate = closed({"reason": TEXT, **scores, "evidence": EVIDENCE, **dict.fromkeys(FLAGS, named("flag"))})
    candidates = closed(dict.fromkeys(labels, named("candidate")))
    whole = closed({"candidates": candidates, "reason": TEXT, "no_clear_difference": BOOL})
    return defining(whole, candidate=candidate, flag=flag, evidence=POINTERS)


def read_ranking(text: str, labels: Sequence[str], resolve: Resolve) -> Round:
    """The complete round that the reply consists of; `resolve` as made by `evidence.labelled`.

    Raises `UnusableReply`, see `kinds.py`.
    """
    reply = read_object(text, "candidates", "repeated_candidate")
    candidates, why, same = shape.fields(reply, ("candidates", "reason", "no_clear_difference"), ())
    values = shape.complete(candidates, labels, "candidate", ("candidates",))
    ranked = tuple(_ranked(label, value, resolve) for label, value in zip(labels, values, strict=True))
    why = shape.reason(why, ("reason",), ("true", "false"))
    return Round(ranked, why, shape.yes_or_no(same, ("no_clear_difference",)))


def own(label: str, evidence: Sequence[Pointer]) -> bool:
    """Whether some of the evidence is the candidate's own, or of a command that was run."""
    return any(pointer.place.startswith((f"{label}:", "run:")) for pointer in evidence)


def _ranked(label: str, value: Any, resolve: Resolve) -> Ranked:
    place = ("candidates", label)
    given = dict(zip(_FIELDS, shape.fields(value, _FIELDS, place), strict=True))
    why = shape.reason(given["reason"], (*place, "reason"), (label,))
    checks = {name: shape.whole(given[name], 1, 5, (*place, name)) for name in CHECKS}
    evidence = read_evidence(given["evidence"], (*place, "evidence"), resolve)
    low = [name for name in CHECKS if checks[name] <= LOW]
    if low and not own(label, evidence):
        raise unusable(
            "no_evidence",
            f"{shape.at(place)}: {low[0]} is {checks[low[0]]}; point at something of {label} that shows it",
        )
    found = {name: pointers for name in FLAGS if (pointers := _flag(given[name], (*place, name), resolve)) is not None}
    flags = {name: pointers for name, pointers in found.items() if own(label, pointers)}
    return Ranked(label, why, checks, evidence, flags, tuple(name for name in found if name not in flags))


def _flag(value: Any, place: shape.Place, resolve: Resolve) -> tuple[Pointer, ...] | None:
    """The evidence of a flag that is claimed; null where it is not."""
    found, evidence = shape.fields(value, ("found", "evidence"), place)
    pointers = read_evidence(evidence, (*place, "evidence"), resolve)
    return pointers if shape.yes_or_no(found, (*place, "found")) else None
