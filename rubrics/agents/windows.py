"""Long text in parts that a model can take: what is left out is counted, and the way to it is said. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LONGEST_LINE = 2_000
"""Characters of a line that is shown in a list of lines."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The two ends of a text. `left_out` characters lie between them; with 0, `head` is the whole text."""

    head: str
    tail: str
    left_out: int
    first_line: int
    """First line, from 1, of which something is left out."""
    last_line: int


def middle_cut(text: str, keep: int) -> Cut:
    """A quarter of `keep` characters from the start and the rest from the end, at line ends where some are near."""
    if len(text) <= keep:
        return Cut(text, "", 0, 0, 0)
    head, tail = text[: keep // 4], text[len(text) - (keep - keep // 4) :]
    if head.rfind("\n") > len(head) // 2:
        head = head[: head.rfind("\n") + 1]
    if -1 < tail.find("\n") < len(tail) // 2:
        tail = tail[tail.find("\n") + 1 :]
    first = head.count("\n") + 1
    last = text.count("\n", 0, len(text) - len(tail)) + (0 if text[len(text) - len(tail) - 1] == "\n" else 1)
    return Cut(head, tail, len(text) - len(head) - len(tail), first, max(first, last))


def short_line(line: str) -> str:
    """The line, or its beginning and how many characters more it has."""
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} [{len(line) - LONGEST_LINE} characters more]"


def page(lines: Sequence[str], first: int, last: int, keep: int) -> tuple[list[str], int]:
    """Lines `first` to `last` (from 0, inclusive) as far as `keep` characters go, at least one; and where the next
    page starts."""
    taken: list[str] = []
    used = 0
    for line in lines[first : last + 1]:
        shown = short_line(line)
        if taken and used + len(shown) + 1 > keep:
            break
        taken.append(shown)
        used += len(shown) + 1
    return taken, first + len(taken)


def window(text: str, offset: int, keep: int) -> tuple[str, int]:
    """At most `keep` characters from `offset`, up to a line end where one is near, and where the next part starts."""
    part = text[offset : offset + keep]
    if offset + len(part) < len(text) and part.rfind("\n") > keep // 2:
        part = part[: part.rfind("\n") + 1]
    return part, offset + len(part)
