"""Handlers that swallow what they catch."""

from __future__ import annotations

import ast
import re

from rubrics.facts.python_trees import hunk_tree, post_image
from rubrics.facts.views import WIDTH, FileView
from rubrics.records.patches import Hunk

_EMPTY_CATCH = re.compile(
    r"\bcatch\b[ \t]*+(?:\([^()\n]*+\)[ \t]*+)?\{\s*+\}|\brescue\b[^\n]*+\n\s*+(?:nil\s*+\n\s*+)?end\b"
)
_HANDLER = re.compile(r"[ \t]*+except\b[^\n]*?:[ \t]*+([^\n]*+)$")
_NOTHING = re.compile(r"(?:pass|continue|break|\.\.\.|return(?:[ \t]++None)?)[ \t]*+(?:#.*)?$")


def swallowed(file: FileView) -> int:
    """Handlers that added lines begin and that do nothing."""
    if file.python:
        return sum(_in_hunk(hunk) for hunk in file.change.hunks) if "except" in file.code_added else 0
    if "catch" not in file.code_added and "rescue" not in file.code_added:
        return 0
    return len(_EMPTY_CATCH.findall(file.code_added))


def _in_hunk(hunk: Hunk) -> int:
    added = _added_rows(hunk)
    if not added:
        return 0
    parsed = hunk_tree(hunk)
    if parsed is None:
        return _by_lines(hunk, added)
    module, padding = parsed
    handlers = (node for node in ast.walk(module) if isinstance(node, ast.ExceptHandler))
    return sum(node.lineno - padding in added and all(map(_is_nothing, node.body)) for node in handlers)


def _added_rows(hunk: Hunk) -> set[int]:
    """Rows (from 1) of the hunk's post-image that are added lines with the word except."""
    after = (line for line in hunk.lines if line.kind != "removed")
    return {row for row, line in enumerate(after, 1) if line.kind == "added" and "except" in line.text[:WIDTH]}


def _is_nothing(node: ast.stmt) -> bool:
    if isinstance(node, ast.Return):
        return node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, (ast.Pass, ast.Continue, ast.Break))


def _by_lines(hunk: Hunk, added: set[int]) -> int:
    lines = [line[:WIDTH] for line in post_image(hunk)]
    return sum(_line_swallows(lines, row) for row in added)


def _line_swallows(lines: list[str], row: int) -> bool:
    match = _HANDLER.match(lines[row - 1])
    if match is None:
        return False
    if match[1] and not match[1].startswith("#"):
        return _NOTHING.match(match[1]) is not None
    body = [line for line in lines[row : row + 20] if line.strip() and not line.lstrip().startswith("#")]
    if not body or _NOTHING.match(body[0].strip()) is None:
        return False
    return len(body) == 1 or _indent(body[1]) < _indent(body[0])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
