"""What an audit judge says of the suspected findings of a group: schema and strict reader.

`{"findings": {<id>: {reason, verdict, evidence}, ...}}`. Every finding that was asked about has exactly one verdict.
`confirmed` needs at least one pointer into the very rollout that is suspected; every pointer resolves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from rubrics.records.judgements import Pointer
from rubrics.replies import shape
from rubrics.replies.evidence import Resolve, read_evidence
from rubrics.replies.json_text import read_object
from rubrics.replies.kinds import unusable
from rubrics.replies.schemas import EVIDENCE, POINTERS, TEXT, Schema, closed, defining, named, words

Decision = Literal["confirmed", "rejected", "unclear"]
DECISIONS: tuple[Decision, ...] = ("confirmed", "rejected", "unclear")


@dataclass(frozen=True, slots=True)
class Decided:
    """What the judge says of one finding."""

    finding: str
    """The id that it was asked under."""
    decision: Decision
    reason: str
    evidence: tuple[Pointer, ...]


def audit_schema(ids: Iterable[str]) -> Schema:
    finding = closed({"reason": TEXT, "verdict": words(DECISIONS), "evidence": EVIDENCE})
    asked = closed({"findings": closed(dict.fromkeys(ids, named("finding")))})
    return defining(asked, finding=finding, evidence=POINTERS)


def read_audit(text: str, asked: Mapping[str, str], resolve: Resolve) -> tuple[Decided, ...]:
    """A verdict on every finding, in the order asked; `asked` maps ids to the label of the suspected rollout.

    With an empty label pointers carry none. `resolve`: see `evidence.labelled`. Raises `UnusableReply`, see `kinds.py`.
    """
    reply = read_object(text, "findings", "repeated_finding")
    (findings,) = shape.fields(reply, ("findings",), ())
    values = shape.complete(findings, tuple(asked), "finding", ("findings",))
    return tuple(
        _decided(finding, label, value, resolve) for (finding, label), value in zip(asked.items(), values, strict=True)
    )


def _decided(finding: str, label: str, value: Any, resolve: Resolve) -> Decided:
    place = ("findings", finding)
    why, verdict, evidence = shape.fields(value, ("reason", "verdict", "evidence"), place)
    why = shape.reason(why, (*place, "reason"), (finding, *DECISIONS))
    decision = cast(Decision, shape.one_of(verdict, DECISIONS, (*place, "verdict"), "off_scale"))
    pointers = read_evidence(evidence, (*place, "evidence"), resolve)
    prefix = (f"{label}:",) if label else ("patch:", "transcript:")
    if decision == "confirmed" and not any(pointer.place.startswith(prefix) for pointer in pointers):
        wanted = f"something of {label}" if label else "patch or transcript"
        raise unusable(
            "no_evidence", f"{shape.at(place)}: confirmed without evidence; point at {wanted}, or say unclear"
        )
    return Decided(finding, decision, why, pointers)
