"""The lines a patch adds, with what stands around them."""

from __future__ import annotations

import re
from typing import NamedTuple

from rubrics.facts.paths import Kind
from rubrics.facts.views import FileView, views
from rubrics.records.patches import Hunk, Patch

_WORDS = re.compile(r"[^\W\d_]{2,}")
_IMPORT = re.compile(r"(?:import|from|using|#include|use|require)\b")
SHORTEST = 16
"""Characters that a line needs to say something of its own: `return default` is shorter, a condition is longer."""


class Added(NamedTuple):
    path: str
    number: int
    text: str
    kind: Kind
    change: str
    """What the patch does to the file: `added`, `modified`, `renamed`."""
    around: tuple[str, ...]
    """Lines that enclose it by indentation, outermost first, as far as the hunk shows."""
    top: bool
    """Whether it is known to stand at the left margin or under nothing but such lines."""
    said: bool
    """Whether it is a comment or stands in a docstring: text, not code."""

    @property
    def place(self) -> str:
        return f"patch:{self.path}:{self.number}"

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def added_lines(patch: Patch | None) -> list[Added]:
    """Every added line, in order."""
    if patch is None:
        return []
    return [line for view in views(patch) for line in _of_file(view)]


def plain(text: str) -> str:
    """A line with blanks collapsed: how lines are compared."""
    return " ".join(text[:2_000].split())


def is_substantial(line: str) -> bool:
    """Whether a collapsed line says enough that two people would hardly write it alike by chance."""
    return len(line) >= SHORTEST and len(_WORDS.findall(line)) >= 2 and _IMPORT.match(line) is None


def _of_file(view: FileView) -> list[Added]:
    found: list[Added] = []
    marks = ("#",) if view.hash_comments else ("//", "/*", "* ", "*/")
    for place, hunk in enumerate(view.change.hunks):
        inside = view.strings[place] if place < len(view.strings) else frozenset()
        found += _of_hunk(view, hunk, inside, marks)
    return found


def _of_hunk(view: FileView, hunk: Hunk, inside: frozenset[int], marks: tuple[str, ...]) -> list[Added]:
    found: list[Added] = []
    stack: list[tuple[int, str]] = []
    whole = view.change.change == "added"
    for index, line in enumerate(hunk.lines):
        text = line.text.expandtabs(8)[:2_000]
        stripped = text.strip()
        if line.kind == "removed" or not stripped:
            continue
        indent = len(text) - len(text.lstrip())
        while stack and stack[-1][0] >= indent:
            stack.pop()
        around = tuple(header for _, header in stack)
        if indent and not around and hunk.section:
            around = (hunk.section,)
        if line.kind == "added":
            top = indent == 0 or whole or (bool(stack) and stack[0][0] == 0)
            said = index in inside or stripped.startswith(marks)
            found.append(
                Added(
                    view.change.path, line.number, line.text[:2_000], view.kind, view.change.change, around, top, said
                )
            )
        if index not in inside:
            stack.append((indent, stripped))
    return found
