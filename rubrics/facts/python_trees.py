"""Python's own parser on text that need not be Python."""

from __future__ import annotations

import ast
import textwrap
import warnings

from rubrics.records.patches import Hunk

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


def post_image(hunk: Hunk) -> list[str]:
    """The lines of a hunk as they stand after the change."""
    return [line.text for line in hunk.lines if line.kind != "removed"]


def hunk_tree(hunk: Hunk) -> tuple[ast.Module, int] | None:
    """Syntax tree of what a hunk leaves, and how many lines stand before it; null where no padding helps."""
    lines = post_image(hunk)
    body = textwrap.dedent("\n".join(lines))
    for head, tail in (("", ""), ("try:\n", ""), ("try:\n", "\n    pass")):
        text = body
        if head:
            first = next((line for line in lines if line.strip()), "")
            indent = first[: len(first) - len(first.lstrip())][4:]  # what the hunk's first line stands in
            text = textwrap.dedent(f"{indent}{head}" + "\n".join(lines) + (f"\n{indent}{tail[1:]}" if tail else ""))
        parsed = tree(text)
        if parsed is not None:
            return parsed, head.count("\n")
    return None
