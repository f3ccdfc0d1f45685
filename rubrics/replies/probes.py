"""What a model-driven probe submits after it has looked for routes to the answer: schema and strict reader.

`{"reason", "findings": [{kind, place, detail, remedy, evidence}, ...]}`. No finding is a valid full pass, with a reason
that says what was looked at. Every finding rests on at least one command that the probe really ran: `run:<number>` with
words that stand in the command or in what it printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from rubrics.records.judgements import Pointer, Ran
from rubrics.replies import shape
from rubrics.replies.evidence import Resolve, Sources, read_evidence
from rubrics.replies.json_text import read_object
from rubrics.replies.kinds import unusable
from rubrics.replies.schemas import POINTERS, TEXT, Schema, closed, listed, words
from rubrics.visible import one_line

ROUTES: dict[str, str] = {
    "git_history": "Commits, refs, stashes, reflogs or loose objects that hold work later than the task's commit.",
    "answer_copy": "A patch, diff, archive or other file with the reference solution or a part of it.",
    "hidden_tests": "The tests that decide, or what they expect.",
    "grader_file": "Results, reports, logs or scripts of whoever grades.",
    "build_leftover": "Caches, compiled files, build folders or logs that were made from a later state.",
    "installed_copy": "Another copy of the target package among the installed packages.",
    "package_archive": "A wheel, source archive or package cache with another version of the target package.",
    "network": "A way out of the environment by which the answer could be fetched.",
    "other": "Another route; the detail says which.",
}
"""The closed list of what a probe may report, and what each word means."""
MAX_PLACE = 4096
"""Longest path of the usual file systems."""
SuggestedRemedy = Literal["remove", "none"]
REMEDIES: tuple[SuggestedRemedy, ...] = ("remove", "none")
_FIELDS = ("kind", "place", "detail", "remedy", "evidence")


@dataclass(frozen=True, slots=True)
class Route:
    """One route to the answer that a probe reports."""

    kind: str
    """A key of `ROUTES`."""
    place: str
    """Path in the environment or name of a reference, on one line; untrusted."""
    detail: str
    remedy: SuggestedRemedy
    """A suggestion: the guards of preparation decide."""
    evidence: tuple[Pointer, ...]
    """Never empty."""


@dataclass(frozen=True, slots=True)
class ProbeReport:
    reason: str
    """What was looked at."""
    routes: tuple[Route, ...]


def probe_schema() -> Schema:
    route = closed(
        {"kind": words(tuple(ROUTES)), "place": TEXT, "detail": TEXT, "remedy": words(REMEDIES), "evidence": POINTERS}
    )
    return closed({"reason": TEXT, "findings": listed(route)})


def read_probe(text: str, runs: Sequence[Ran]) -> ProbeReport:
    """The report that the submission consists of. Raises `UnusableReply`, see `kinds.py`."""
    reply = read_object(text)
    why, findings = shape.fields(reply, ("reason", "findings"), ())
    why = shape.reason(why, ("reason",))
    resolve = Sources(None, None, runs).wrong
    routes = [_route(("findings", i), item, resolve) for i, item in enumerate(shape.items(findings, ("findings",)))]
    return ProbeReport(why, tuple(routes))


def _route(at: shape.Place, value: Any, resolve: Resolve) -> Route:
    kind, place, detail, remedy, evidence = shape.fields(value, _FIELDS, at)
    kind = shape.one_of(kind, tuple(ROUTES), (*at, "kind"))
    place = shape.text(place, (*at, "place"))
    if one_line(place) != place or len(place) > MAX_PLACE:
        raise unusable(
            "shape", f"{shape.at((*at, 'place'))} is {shape.shown(place)}; wanted a path or a reference on one line"
        )
    detail = shape.reason(detail, (*at, "detail"), (kind, place))
    remedy = cast(SuggestedRemedy, shape.one_of(remedy, REMEDIES, (*at, "remedy")))
    pointers = read_evidence(evidence, (*at, "evidence"), resolve)
    if not pointers:
        raise unusable("no_evidence", f"{shape.at(at)}: a finding without evidence; point at a command that shows it")
    return Route(kind, place, detail, remedy, pointers)
