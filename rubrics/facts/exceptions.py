"""Handlers that swallow what they catch."""

from __future__ import annotations

import ast
import re
from typing import Literal

from rubrics.facts import lexing
from rubrics.facts.python_trees import block_tree, image
from rubrics.facts.views import WIDTH, FileView
from rubrics.records.patches import Hunk

_EMPTY_CATCH = re.compile(
    r"\bcatch\b[ \t]*+(?:\([^()\n]*+\)[ \t]*+)?\{\s*+\}|\brescue\b[^\n]*+\n\s*+(?:nil\s*+\n\s*+)?end\b"
)
_HANDLER = re.compile(r"[ \t]*+except\b[^\n]*?:[ \t]*+([^\n]*+)$")
_NOTHING = re.compile(r"(?:pass|continue|break|\.\.\.|return(?:[ \t]++None)?)[ \t]*+(?:#.*)?$")


def swallowed(file: FileView) -> int:
    """Handlers that added lines begin and that do nothing, beyond those that removed lines begin."""
    if not lexing.has_any(file.code_added, ("except", "catch", "rescue")):
        return 0
    if not file.python:
        return max(0, len(_EMPTY_CATCH.findall(file.code_added)) - len(_EMPTY_CATCH.findall(file.code_removed)))
    added = sum(_in_hunk(hunk, "added") for hunk in file.change.hunks)
    if added and "except" in file.code_removed:
        added -= sum(_in_hunk(hunk, "removed") for hunk in file.change.hunks)
    return max(0, added)


def _in_hunk(hunk: Hunk, changed: Literal["added", "removed"]) -> int:
    lines = image(hunk, changed)
    rows = [row for row, line in enumerate(lines) if line.kind == changed and "except" in line.text[:WIDTH]]
    if not rows:
        return 0
    texts = [line.text[:WIDTH] for line in lines]
    verdicts = [_by_lines(texts, row) for row in rows]
    parsed = block_tree(texts) if None in verdicts else None
    if parsed is None:
        return sum(verdict is True for verdict in verdicts)
    module, padding = parsed
    begun = {row + padding + 1 for row in rows}
    return sum(node.lineno in begun and all(map(_is_nothing, node.body)) for node in _handlers(module))


def _handlers(module: ast.Module) -> list[ast.ExceptHandler]:
    """Every handler; expressions, which hold none, are not walked."""
    found: list[ast.ExceptHandler] = []
    pending: list[ast.AST] = [module]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.ExceptHandler):
            found.append(node)
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, name, None)
            if isinstance(inner, list):
                pending += inner
    return found


def _is_nothing(node: ast.stmt) -> bool:
    if isinstance(node, ast.Return):
        return node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, (ast.Pass, ast.Continue, ast.Break))


def _by_lines(lines: list[str], row: int) -> bool | None:
    """Whether the handler at the row does nothing; null where the lines alone do not say: the parser is asked then."""
    if not lines[row].lstrip().startswith("except"):
        return False
    match = _HANDLER.match(lines[row])
    if match is None:
        return None
    if match[1] and not match[1].startswith("#"):
        return _NOTHING.match(match[1]) is not None
    body = [line for line in lines[row + 1 : row + 20] if line.strip() and not line.lstrip().startswith("#")]
    if not body or body[0].lstrip().startswith(('"', "'")):
        return None
    if _NOTHING.match(body[0].strip()) is None:
        return False
    return len(body) == 1 or _indent(body[1]) < _indent(body[0])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
