"""Python's own parser on text that need not be Python."""

from __future__ import annotations

import ast
import textwrap
import warnings
from typing import Literal

from rubrics.records.patches import Hunk, Line

LONGEST = 200_000


def parses(text: str) -> bool | None:
    """Whether the text is Python; null for text too long to try."""
    return None if len(text) > LONGEST else tree(text) is not None


def tree(text: str) -> ast.Module | None:
    """The syntax tree of the text, or null when it is none."""
    if len(text) > LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes in attempts' strings are not our caller's business
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def image(hunk: Hunk, changed: Literal["added", "removed"] = "added") -> list[Line]:
    """The lines of a hunk as they stand after the change (`added`) or before it (`removed`)."""
    return [line for line in hunk.lines if line.kind in ("kept", changed)]


def block_tree(lines: list[str]) -> tuple[ast.Module, int] | None:
    """Syntax tree of a piece of a file, and how many lines stand before it; null where no padding helps."""
    body = textwrap.dedent("\n".join(lines))
    parsed = tree(body)
    if parsed is not None:
        return parsed, 0
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip())][4:]  # the piece may begin inside a try block
    for tail in ("", f"\n{indent}    pass"):
        parsed = tree(textwrap.dedent(f"{indent}try:\n" + "\n".join(lines) + tail))
        if parsed is not None:
            return parsed, 1
    return None
