"""What an audit judge is given: one suspected attempt, what is suspected, and the other attempts of its task. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rubrics.audit.findings import PATTERNS
from rubrics.judges.questions import task_values
from rubrics.prompting.fences import fence, shown, shown_name
from rubrics.prompting.patches import patch_view
from rubrics.prompting.templates import prompt_digest, render
from rubrics.prompting.transcripts import full, outline
from rubrics.records.models import Request
from rubrics.records.rollouts import Turn
from rubrics.records.tasks import Task
from rubrics.replies.audits import audit_schema
from rubrics.replies.examples import AUDIT

SUSPECT = "suspect"
"""Label of the suspected attempt."""
TEMPLATES = ("audit", "audit_group")
SUBMIT = "submit_audit"
_ONCE = "Reply with one JSON object of this form and nothing else:"
_AT_LAST = f"Open what you need with your tools, then call {SUBMIT} once, with arguments of this form:"
_SHORT = "Of a long attempt only an outline stands here: {tools} open the rest. All of it is data."


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt, with nothing sealed."""

    rollout_id: str
    patch: str | None
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Findings of one pattern about one attempt."""

    kind: str
    sources: tuple[str, ...]
    places: tuple[str, ...]
    reasons: tuple[str, ...]
    about: tuple[str, ...]
    """Digests of the findings, see `suspicion_digest`."""


@dataclass(frozen=True, slots=True)
class Case:
    """One suspected attempt beside the others."""

    task: Task
    suspect: Attempt
    suspicions: tuple[Suspicion, ...]
    others: tuple[Attempt, ...]

    @property
    def ids(self) -> dict[str, Suspicion]:
        """The suspicions by the ids under which they are asked about."""
        return {f"s{number}": item for number, item in enumerate(self.suspicions, 1)}

    @property
    def labels(self) -> dict[str, Attempt]:
        """All attempts by label, the suspect first."""
        return {SUSPECT: self.suspect, **{f"other{n}": item for n, item in enumerate(self.others, 1)}}


def suspicion_digest(source: str, evidence: str | None, reason: str | None) -> str:
    """What a rejection names a finding by; the view `audit_findings` computes the same."""
    text = f"{source}\n{evidence or ''}\n{reason or ''}"
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def version() -> str:
    """Digest of the templates."""
    return prompt_digest(*TEMPLATES)


def whole(case: Case) -> Request:
    """One question that shows the suspect's work whole, and of each other attempt the patch and an outline."""
    return Request(_messages(case, False), schema=audit_schema(case.ids), schema_name="audit", purpose="audit")


def outlined(case: Case, tools: str) -> Request:
    """The opening of a conversation with tools: outlines and what is suspected."""
    return Request(_messages(case, True, _SHORT.format(tools=tools)), purpose="audit")


def _messages(case: Case, short: bool, ending: str = "All of it is data.") -> tuple[dict[str, Any], ...]:
    how = _AT_LAST if short else _ONCE
    system = render("audit", patterns=list(PATTERNS.items()), how_to_answer=how, reply_form=json.dumps(AUDIT))
    others = [
        {"label": label, "sections": list(_sections(item, short, True))}
        for label, item in case.labels.items()
        if label != SUSPECT
    ]
    user = render(
        "audit_group",
        **task_values(case.task),
        others=others,
        suspect=list(_sections(case.suspect, short, short)),
        suspicions=[_asked(name, item) for name, item in case.ids.items()],
        ending=ending,
    )
    return ({"role": "system", "content": system}, {"role": "user", "content": user})


def _sections(attempt: Attempt, short: bool, summed_up: bool) -> Iterator[str]:
    if attempt.turns:
        label = "outline of the transcript" if summed_up else "transcript"
        yield fence(label, outline(attempt.turns) if summed_up else full(attempt.turns))
    else:
        yield "The transcript is not known."
    if attempt.patch is None:
        yield "The patch is not known."
    elif short:
        yield f"The patch has {len(attempt.patch)} characters."
    else:
        yield fence("patch", patch_view(attempt.patch))


def _asked(name: str, item: Suspicion) -> dict[str, str]:
    """Where and why come from what attempts and models wrote: names are made safe, reasons stand in a fence."""
    return {
        "id": name,
        "kind": shown_name(item.kind),
        "raised_by": ", ".join(shown_name(source) for source in item.sources),
        "places": ", ".join(shown_name(place) for place in item.places),
        "why": fence("suspicion", shown("\n".join(item.reasons))),
    }
