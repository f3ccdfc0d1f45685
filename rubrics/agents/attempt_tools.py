"""Tools that open parts of stored attempts: patch, transcript, test results. All of it is untrusted and fenced."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rubrics.agents.arguments import Arguments, tool
from rubrics.agents.conversation import Handled, ToolRefusal
from rubrics.agents.fenced import fenced
from rubrics.agents.windows import page, window
from rubrics.prompting.fences import Shown, fence
from rubrics.prompting.patches import patch_view
from rubrics.prompting.transcripts import outline, part, search
from rubrics.records.models import Tool
from rubrics.records.rollouts import Turn

SHOWN = 16_000
"""Characters that one call shows."""
LINES = 200
"""Test results that one call shows."""


@dataclass(frozen=True, slots=True)
class ShownAttempt:
    """An attempt as the tools show it. It has no field for anything sealed."""

    patch: str | None
    turns: tuple[Turn, ...] | None
    tests: str | None = None
    """Ids and statuses of its tests, one a line; never a log."""


_LABEL = {"attempt": "Label of the attempt."}
_OFFSET = {"offset": "integer: Characters to skip, as an earlier answer said; 0 when left out."}
_TURNS = {
    "first_turn": "integer: First turn, from 0; the outline of all turns when left out.",
    "last_turn": "integer: Last turn; the first one when left out.",
}

Work = Callable[[ShownAttempt, Arguments], str]


def attempt_tools(attempts: Mapping[str, ShownAttempt], *, single: bool = False) -> tuple[Handled, ...]:
    """`show_patch`, `show_transcript`, `search_transcript`, `show_tests` over attempts, by label.

    `single`: there is one attempt, and the tools have no argument for its label.
    """
    label = {} if single else _LABEL
    offered: tuple[tuple[Tool, Work], ...] = (
        (tool("show_patch", "The attempt's change, in parts where it is long.", label, _OFFSET), _patch),
        (
            tool(
                "show_transcript",
                "Turns of the attempt's transcript in full, in parts where they are long; without turns, its outline.",
                label,
                {**_TURNS, **_OFFSET},
            ),
            _transcript,
        ),
        (
            tool(
                "search_transcript",
                "Lines of the attempt's transcript that hold a text, with their turns.",
                {**label, "text": "Plain text of one line; case does not matter."},
            ),
            _search,
        ),
        (
            tool(
                "show_tests",
                "Ids and statuses of the tests that were run on the attempt.",
                label,
                {"containing": "Only lines that hold this text."},
            ),
            _tests,
        ),
    )
    return tuple(Handled(item, _handler(attempts, item, work, single)) for item, work in offered)


def _handler(
    attempts: Mapping[str, ShownAttempt], offered: Tool, work: Work, single: bool
) -> Callable[[Mapping[str, Any]], str]:
    def handle(values: Mapping[str, Any]) -> str:
        arguments = Arguments(offered, values)
        if single:
            return work(next(iter(attempts.values())), arguments)
        label = arguments.text("attempt").strip()
        if label not in attempts:
            raise ToolRefusal(f"there is no attempt {label!r:.80}; there are {', '.join(attempts)}")
        return work(attempts[label], arguments)

    return handle


def _patch(attempt: ShownAttempt, arguments: Arguments) -> str:
    if attempt.patch is None:
        return "The patch is not known."
    return in_parts("patch", patch_view(attempt.patch), arguments.number("offset", 0) or 0)


def in_parts(label: str, text: Shown, offset: int) -> str:
    """The part of a view from `offset` on, fenced, and what stands before and after it.

    Raises `ToolRefusal` for an offset beyond it.
    """
    if offset and offset >= len(text):
        raise ToolRefusal(f"offset {offset}: there are {len(text)} characters")
    piece, following = window(text, offset, SHOWN)
    said = [] if not offset else [f"Characters {offset} to {following} of {len(text)}:"]
    said.append(fence(label, Shown(piece.removesuffix("\n"))))
    if following < len(text):
        said.append(f"{len(text) - following} characters more; go on with offset {following}.")
    return "\n".join(said)


def _transcript(attempt: ShownAttempt, arguments: Arguments) -> str:
    turns = _turns(attempt)
    first, offset = arguments.number("first_turn"), arguments.number("offset", 0) or 0
    last = arguments.number("last_turn", first)
    if first is None or last is None:
        return in_parts("outline", outline(turns), offset)
    try:
        return fence("transcript", part(turns, first, min(last, len(turns) - 1), offset, SHOWN))
    except ValueError as error:
        raise ToolRefusal(str(error)) from None


def _turns(attempt: ShownAttempt) -> tuple[Turn, ...]:
    if not attempt.turns:
        raise ToolRefusal("the attempt has no transcript")
    return attempt.turns


def _search(attempt: ShownAttempt, arguments: Arguments) -> str:
    wanted = arguments.text("text")
    if not wanted.strip() or "\n" in wanted:
        raise ToolRefusal("text of search_transcript is empty, or more than one line")
    return fence("matches", search(_turns(attempt), wanted))


def _tests(attempt: ShownAttempt, arguments: Arguments) -> str:
    if not attempt.tests:
        return "No results of tests are known."
    wanted = arguments.text("containing").lower()
    lines = [line for line in attempt.tests.split("\n") if line and wanted in line.lower()]
    if not lines:
        return "No test matches."
    taken, following = page(lines, 0, LINES - 1, SHOWN)
    more = f"\n{len(lines) - following} lines more: narrow them by `containing`." if following < len(lines) else ""
    return f"{len(lines)} tests, {following} shown\n" + fenced("test results", "\n".join(taken)) + more
