"""Drafts of rubrics for the task at hand: anchored in its spec, rules over facts, questions for a reader."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rubrics.prompting.fences import parse_fences

QUOTE = 100
"""Characters of a line of the spec that are quoted at most."""
_PROSE = re.compile(r"[A-Z][\w ,.'`()/:-]{29,}")
_TOLD = re.compile(r"^- (solution|behavior) criterion (\S+?): ", re.MULTILINE)
_DEGREES = ["not at all", "in part", "wholly"]
_GUIDANCE = "The last level where nothing is left open, the first where nothing was done, the middle one in between."


def draft_of(body: dict[str, Any]) -> dict[str, Any]:
    """A submission for what the conversation shows, without the criteria that it was told are wrong."""
    sections = {item.label: item.text for item in parse_fences(body["messages"][1]["content"])}
    wrong = {told for item in body["messages"] if item["role"] == "user" for told in _TOLD.findall(item["content"])}
    quotes = _quotes(sections["spec"])
    files = _files(sections["attempts"])
    rubrics = {"solution": _solution(quotes, files), "behavior": _behavior(quotes)}
    return {
        kind: {
            "note": "From the words of the task and from what the attempts did.",
            "criteria": [item for item in listed if (kind, item["id"]) not in wrong],
        }
        for kind, listed in rubrics.items()
    }


def _quotes(spec: str) -> list[str]:
    """Passages of the spec, at least one."""
    prose = [line.strip() for line in spec.split("\n") if _PROSE.match(line.strip()) and "\\" not in line]
    return [line[:QUOTE] for line in prose] or [max(spec.split("\n"), key=len)[:QUOTE]]


def _files(attempts: str) -> list[str]:
    """Files that at least two attempts changed, the most common first."""
    named = Counter(
        path for line in attempts.split("\n") for path in re.findall(r"[(, ]([\w./-]+\.\w+)(?=[,)]| and )", line)
    )
    return [path for path, count in named.most_common() if count >= 2]


def _criterion(name: str, text: str, quote: str | None = None, **more: Any) -> dict[str, Any]:
    anchor = {"kind": "spec" if quote else "none", "place": None, "quote": quote}
    return {
        "rests_on": ["attempt-1"], "anchor": anchor, "id": name, "text": text, "guidance": None, "method": "judge",
        "rule": None, "scale": ["unmet", "met"], "gate": False, "fault": None, "weight": 2, **more,
    }  # fmt: skip


def _rule(name: str, text: str, rule: str, quote: str | None = None, **more: Any) -> dict[str, Any]:
    return _criterion(name, text, quote, method="rule", rule=rule, **more)


def _solution(quotes: Sequence[str], files: Sequence[str]) -> list[dict[str, Any]]:
    near = "A change of what the passing attempts change."
    listed = [
        _criterion("the-report-is-answered", "What the report describes no longer occurs.", quotes[0], weight=3,
                   scale=_DEGREES, guidance=_GUIDANCE),
        _criterion("other-inputs-as-before", "Inputs outside the report give the same result as before.", quotes[-1]),
        _criterion("fault-removed-at-its-origin", "The fault is removed at its origin.", quotes[len(quotes) // 2],
                   scale=_DEGREES, guidance=_GUIDANCE),
        _rule("same-vocabulary", near, "coalesce(tokens_like_passing, 1.0)", quotes[0]),
        _rule("no-scratch-files", "No scratch file is left behind.", "scratch_files_left = 0", weight=1,
              fault="files of the search for the fault stay in the patch"),
    ]  # fmt: skip
    if files:
        rule = f"list_contains(files_edited, '{files[0]}')"
        listed.append(_rule("edits-the-file", f"The file `{files[0]}` is edited.", rule, quotes[0]))
    return listed


def _behavior(quotes: Sequence[str]) -> list[dict[str, Any]]:
    return [
        _criterion("the-cause-is-named", "The cause is explained in words ahead of the repair.", quotes[0],
                   scale=_DEGREES, guidance=_GUIDANCE),
        _criterion("the-report-is-replayed", "The reported case is tried out on the repaired code.", quotes[-1],
                   scale=_DEGREES, guidance=_GUIDANCE),
        _rule("runs-something-first", "Something is run before the first edit.",
              "case when coalesce(reproduction_before_edit, true) then 1.0 else 0.0 end",
              fault="the code is changed without having run anything"),
    ]  # fmt: skip
