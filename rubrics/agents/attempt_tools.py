"""Tools that open parts of stored attempts: patch, transcript, test results. All of it is untrusted and fenced."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rubrics.agents.arguments import Arguments, tool
from rubrics.agents.fenced import fenced
from rubrics.agents.loop import Handled, ToolRefusal
from rubrics.agents.patterns import HELP, Pattern, parse
from rubrics.agents.turn_text import heading, turn_text
from rubrics.agents.windows import page, window
from rubrics.records.models import Tool
from rubrics.records.rollouts import Turn

SHOWN = 16_000
"""Characters that one call shows."""
HITS = 60
"""Lines that one search shows."""
AROUND = 400
"""Characters of a long line that a search shows."""


@dataclass(frozen=True, slots=True)
class ShownAttempt:
    """An attempt as the tools show it. It has no field for anything sealed."""

    patch: str | None
    turns: tuple[Turn, ...] | None
    tests: str | None = None
    """Ids and statuses of its tests, one a line; never a log."""


_LABEL = {"attempt": "Label of the attempt."}
_OFFSET = {"offset": "integer: Characters to skip, as an earlier answer said; 0 when left out."}
_TURNS = {"first_turn": "integer: First turn, from 0.", "last_turn": "integer: Last turn."}
_CONTAINING = {"containing": "Only lines that hold this text."}

Work = Callable[[ShownAttempt, Arguments], str]


def attempt_tools(attempts: Mapping[str, ShownAttempt], *, single: bool = False) -> tuple[Handled, ...]:
    """`show_patch`, `show_transcript`, `search_transcript`, `show_tests` over attempts, by label.

    `single`: there is one attempt, and the tools have no argument for its label.
    """
    label = {} if single else _LABEL
    offered: tuple[tuple[Tool, Work], ...] = (
        (tool("show_patch", "The attempt's change, as a unified diff.", label, _OFFSET), _patch),
        (
            tool(
                "show_transcript",
                "Turns of the attempt's transcript in full; a long turn comes in parts.",
                label,
                {**_TURNS, **_OFFSET},
            ),
            _transcript,
        ),
        (
            tool(
                "search_transcript",
                "Lines of the attempt's transcript that match, with their turns.",
                {**label, "pattern": HELP},
                _TURNS,
            ),
            _search,
        ),
        (tool("show_tests", "Ids and statuses of the tests run on the attempt.", label, _CONTAINING), _tests),
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


def _patch(shown: ShownAttempt, arguments: Arguments) -> str:
    if not shown.patch:
        return "The patch is not known." if shown.patch is None else "The attempt changed nothing."
    return _part("patch", shown.patch, arguments.number("offset", 0) or 0)


def _part(label: str, text: str, offset: int, again: str = "") -> str:
    if offset >= len(text):
        return f"{label} has {len(text)} characters; offset {offset} is beyond them."
    part, following = window(text, offset, SHOWN)
    said = f"{label}, characters {offset} to {following} of {len(text)}"
    more = f"\n{len(text) - following} characters more: call again with {again}offset={following}."
    return f"{said}\n{fenced(label, part)}" + (more if following < len(text) else "")


def _transcript(shown: ShownAttempt, arguments: Arguments) -> str:
    turns = _turns(shown)
    first = arguments.number("first_turn", 0) or 0
    last = min(arguments.number("last_turn", first) or first, len(turns) - 1)
    if first > last:
        raise ToolRefusal(f"there are no turns {first} to {last}; the last turn is {len(turns) - 1}")
    offset = arguments.number("offset", 0) or 0
    shown_first = turn_text(turns[first])
    said = [_heading(first, turns), _part(f"turn {first}", shown_first, offset, f"first_turn={first}, ")]
    used = min(len(shown_first) - offset, SHOWN)
    for number in range(first + 1, last + 1):
        text = turn_text(turns[number])
        if used + len(text) > SHOWN or len(shown_first) - offset > SHOWN:
            said.append(f"Turns {number} to {last} left out: call again with first_turn={number}, last_turn={last}.")
            break
        used += len(text) + 100
        said += [_heading(number, turns), fenced(f"turn {number}", text)]
    return "\n".join(said)


def _turns(shown: ShownAttempt) -> tuple[Turn, ...]:
    if not shown.turns:
        raise ToolRefusal("the attempt has no transcript")
    return shown.turns


def _heading(number: int, turns: tuple[Turn, ...]) -> str:
    return f"{heading(number, turns[number])} (the last turn is {len(turns) - 1})"


def _search(shown: ShownAttempt, arguments: Arguments) -> str:
    turns = _turns(shown)
    try:
        pattern = parse(arguments.text("pattern"))
    except ValueError as error:
        raise ToolRefusal(str(error)) from None
    first = arguments.number("first_turn", 0) or 0
    last = arguments.number("last_turn", len(turns) - 1)
    hits = [
        f"turn {number}: {_around(pattern, line)}"
        for number in range(first, min((last or 0) + 1, len(turns)))
        for line in turn_text(turns[number]).split("\n")
        if pattern.found_in(line)
    ]
    return _hits(hits, "search", "narrow the pattern, or give first_turn and last_turn")


def _hits(hits: list[str], label: str, remedy: str) -> str:
    if not hits:
        return "No line matches."
    taken, following = page(hits, 0, HITS - 1, SHOWN)
    more = f"\n{len(hits) - following} lines more: {remedy}." if following < len(hits) else ""
    return f"{len(hits)} lines, {following} shown\n" + fenced(label, "\n".join(taken)) + more


def _around(pattern: Pattern, line: str) -> str:
    """A long line is shown around its first match."""
    if len(line) <= AROUND:
        return line
    start = max(0, pattern.place_in(line) - AROUND // 4)
    rest = len(line) - start - AROUND
    return (f"[{start} characters] " if start else "") + line[start : start + AROUND] + f" [{max(0, rest)} characters]"


def _tests(shown: ShownAttempt, arguments: Arguments) -> str:
    if not shown.tests:
        return "No test results are known."
    wanted = arguments.text("containing").lower()
    lines = [line for line in shown.tests.split("\n") if line and wanted in line.lower()]
    return _hits(lines, "tests", "give containing")
