"""A transcript as a prompt shows it: whole, in outline, in parts, or searched. Pure.

Turns are numbered from 0, as in a pointer `transcript:<turn>`. Marks stand on lines of their own (`[[turn 3
assistant]]`, `[[reasoning]]`, `[[call bash]]`, `[[observation, exit 1]]`); content that looks like one is escaped.
Whatever is left out is named with its size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rubrics.facts.tools import shell_text
from rubrics.prompting.fences import Shown, shown_name
from rubrics.records.rollouts import ToolCall, Turn
from rubrics.visible import defused, shortened

WORDS = 160
"""Characters of a turn that an outline shows."""
HIT = 300
"""Characters of a line that a search shows."""
PART = 16_000
"""Characters of an opened part; some 4,000 to 6,000 tokens (costs.md: 2.7 to 5 bytes a token)."""


def opening_turns(turns: Sequence[Turn]) -> int:
    """How many turns stand before the attempt's first own one: what the harness told it, mostly equal for a task."""
    return next((place for place, turn in enumerate(turns) if turn.role == "assistant"), len(turns))


def full(turns: Sequence[Turn], first: int = 0, last: int | None = None) -> Shown:
    """The turns `first` to `last` (included; null: to the end), whole. Empty where there are none."""
    end = len(turns) if last is None else last + 1
    return Shown("\n".join(line for number in range(first, min(end, len(turns))) for line in _turn(turns, number)))


def outline(turns: Sequence[Turn]) -> Shown:
    """One line a turn: who, how much of what, and the first words."""
    return Shown("\n".join(_summary(number, turn) for number, turn in enumerate(turns)))


def part(turns: Sequence[Turn], first: int, last: int, offset: int = 0, width: int = PART) -> Shown:
    """At most `width` characters of `full(turns, first, last)` from `offset` on, what was left out before and after,
    and the offset to go on with. Raises `ValueError` naming the range where there is nothing."""
    if not 0 <= first <= last < len(turns):
        raise ValueError(f"turns {first} to {last}: the transcript has turns 0 to {len(turns) - 1}")
    whole = full(turns, first, last)
    if not 0 <= offset < max(1, len(whole)):
        raise ValueError(f"offset {offset}: these turns have {len(whole)} characters")
    end = min(len(whole), offset + width)
    line_end = whole.rfind("\n", offset + width // 2, end)
    if end < len(whole) and line_end > 0:
        end = line_end + 1
    piece = whole[offset:end]
    if offset:
        within = "" if whole[offset - 1] == "\n" else "..."
        piece = f"[[note: {offset} characters of turns {first} to {last} stand before this]]\n{within}{piece}"
    if end < len(whole):
        piece = f"{piece.rstrip(chr(10))}\n[[note: {len(whole) - end} characters more; go on with offset {end}]]"
    return Shown(piece)


def search(turns: Sequence[Turn], words: str, limit: int = 40) -> Shown:
    """The lines that hold `words` (plain text, any case): turn, part, line from 1, and the line itself.

    At most `limit` of them, then how many more there are.
    """
    wanted = words.lower()
    hits = [hit for number, turn in enumerate(turns) for hit in _hits(number, turn, wanted)] if wanted else []
    lines = [f"{place}: {defused(shortened(line, HIT))}" for place, line in hits[:limit]]
    if len(hits) > limit:
        lines.append(f"[[note: {len(hits) - limit} more lines hold it; search for something longer]]")
    return Shown("\n".join(lines) or "[[note: no line holds it]]")


def _turn(turns: Sequence[Turn], number: int) -> Iterator[str]:
    turn = turns[number]
    flags = "".join(f", {flag}" for flag in turn.flags)
    yield f"[[turn {number} {shown_name(turn.role + flags)}]]"
    if turn.reasoning:
        yield "[[reasoning]]"
        yield _body(turn.reasoning)
        if turn.text:
            yield "[[end of reasoning]]"
    if turn.text:
        yield _body(turn.text)
    for call in turn.tool_calls:
        yield from _call(call, turn.text)
    if turn.observation is not None:
        yield f"[[observation{_exit(turn)}]]"
        if turn.observation:
            yield _body(turn.observation)


def _call(call: ToolCall, text: str) -> Iterator[str]:
    made = _made(call)
    if made and made in text:
        yield f"[[call {shown_name(call.name)}: as in the text above]]"
        return
    yield f"[[call {shown_name(call.name)}]]"
    if made:
        yield _body(made)


def _made(call: ToolCall) -> str:
    shell = shell_text(call)
    return (call.raw if shell is None else shell).strip()


def _body(text: str) -> str:
    return defused(text.strip("\n"))


def _exit(turn: Turn) -> str:
    return "" if turn.exit_code is None else f", exit {turn.exit_code}"


def _summary(number: int, turn: Turn) -> str:
    sizes = [f"{len(turn.text)} characters"] if turn.text else []
    sizes += [f"reasoning {len(turn.reasoning)}"] if turn.reasoning else []
    sizes += [f"call {shown_name(call.name)} {len(_made(call))}" for call in turn.tool_calls]
    sizes += [f"observation {len(turn.observation)}{_exit(turn)}"] if turn.observation is not None else []
    said = turn.text or turn.reasoning or next((_made(call) for call in turn.tool_calls), "")
    flags = "".join(f", {flag}" for flag in turn.flags)
    who = f"turn {number} {shown_name(turn.role + flags)}"
    return f"{who} [{', '.join(sizes) or 'empty'}]: {shown_name(' '.join(shortened(said, WORDS).split()))}"


def _hits(number: int, turn: Turn, wanted: str) -> Iterator[tuple[str, str]]:
    pieces = [("text", turn.text), ("reasoning", turn.reasoning or "")]
    pieces += [("call", _made(call)) for call in turn.tool_calls]
    pieces += [("observation", turn.observation or "")]
    for name, text in pieces:
        if wanted not in text.lower():
            continue
        for place, line in enumerate(text.split("\n"), 1):
            if wanted in line.lower():
                yield f"turn {number} {name} line {place}", line
