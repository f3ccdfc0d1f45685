"""The prompt of a bout: the task first, then every candidate in its place, all in one form."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from rubrics.facts.diffs import parse_patch
from rubrics.prompting.fences import fence, shown, shown_name
from rubrics.prompting.patches import patch_view
from rubrics.prompting.sizes import most_tokens
from rubrics.prompting.tasks import facts_view, spec_view
from rubrics.prompting.templates import prompt_digest, render
from rubrics.prompting.transcripts import full, outline
from rubrics.ranking.bouts import Bout, Candidate
from rubrics.replies.examples import RANKING

FOLDER = "/tmp/attempts"
"""Where the workspace holds the patches, as `<label>.diff`."""
FORMS = ("transcripts", "outlines", "patches", "files")
"""How much of each attempt stands in a prompt: whole transcripts, outlines of them, patches only, names of files."""
LISTED = 100
"""Tests that are listed by name before the rest is counted only."""
_STATUSES = frozenset({"passed", "failed", "error", "skipped", "xfailed", "xpassed"})
"""What may stand outside a fence: statuses of a dump are words of others."""

Messages = tuple[Mapping[str, Any], ...]


def messages(mode: str, bout: Bout, form: str) -> Messages:
    """What is said to the model at first; `mode` is `single` or `agent`, `form` one of `FORMS`."""
    task = {"facts": fence("task", facts_view(bout.task)), "spec": fence("spec", spec_view(bout.task))}
    values = {
        "candidates": [_values(item, form) for item in bout.candidates],
        "failures": [_values(item, form) for item in bout.failures],
        "closing": "Answer with the JSON object alone." if mode == "single" else "Begin with the code it is about.",
    }
    return (
        {"role": "system", "content": _instructions(mode)},
        {"role": "user", "content": render("rank_bout", **task, **values)},
    )


def first_form(mode: str, bout: Bout, forms: Sequence[str], limit: int | None) -> Messages | None:
    """The messages in the first of the forms that fits into `limit` tokens (null: no limit); null where none does."""
    for form in forms:
        made = messages(mode, bout, form)
        if limit is None or most_tokens(made) <= limit:
            return made
    return None


def digest_of(mode: str) -> str:
    """The version of the prompt."""
    return prompt_digest(f"rank_{mode}", "rank_bout")


@lru_cache(maxsize=4)
def _instructions(mode: str) -> str:
    agent = mode == "agent"
    return render(
        f"rank_{mode}",
        folder=FOLDER,
        how_to_answer="The arguments of submit_ranking have this form:" if agent
        else "Reply with one JSON object of this form and nothing else:",
        reply_form=json.dumps(RANKING),
        more_places=" run:NUMBER is a command that you ran, by the number of its result." if agent else "",
    )  # fmt: skip


def _values(item: Candidate, form: str) -> dict[str, Any]:
    return {"label": item.label, "summary": _summary(item), "sections": list(_sections(item, form))}


def _summary(item: Candidate) -> str:
    said = (line.partition(" ")[0] for line in (item.tests or "").split("\n") if line)
    statuses = Counter(status if status in _STATUSES else "other" for status in said)
    counted = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
    turns = "no transcript" if item.rollout.turns is None else f"a transcript of {len(item.rollout.turns)} turns"
    return f"Tests: {counted or 'nothing is known of single ones'}. It has {turns}."


def _sections(item: Candidate, form: str) -> Iterator[str]:
    rollout = item.rollout
    if form == "files":
        yield fence(f"files of {item.label}", shown(_files(rollout.patch)))
    else:
        known = rollout.patch is not None
        yield fence(f"patch of {item.label}", patch_view(rollout.patch or "") if known else shown("not known"))
    if other := [line for line in (item.tests or "").split("\n") if line and not line.startswith("passed ")]:
        rest = [f"[{len(other) - LISTED} more are not listed]"] if len(other) > LISTED else []
        yield fence(f"tests of {item.label} that did not pass", shown("\n".join([*other[:LISTED], *rest])))
    if rollout.turns and form in ("transcripts", "outlines"):
        view = full(rollout.turns) if form == "transcripts" else outline(rollout.turns)
        what = "transcript" if form == "transcripts" else "outline of the transcript"
        yield fence(f"{what} of {item.label}", view)


def _files(patch: str | None) -> str:
    """The files that the patch changes, each with its added and removed lines."""
    if patch is None:
        return "the patch is not known"
    lines = []
    for file in parse_patch(patch).files:
        kinds = Counter(line.kind for hunk in file.hunks for line in hunk.lines)
        lines.append(f"{shown_name(file.path)}: {file.change}, +{kinds['added']} -{kinds['removed']}")
    return "\n".join(lines) or "no file that can be told; open the patch"
