"""In which functions the changed lines of a file stand, found by indentation and by the section headers of hunks."""

from __future__ import annotations

import re

from rubrics.facts.views import WIDTH, FileView
from rubrics.records.patches import Hunk

_SCOPE = re.compile(r"([ \t]*+)(?:async[ \t]++)?(?:def|class)[ \t]++([^\W\d]\w*+)")
_STARTS = ("def ", "class ", "async ")
MODULE = "<module>"


def functions_edited(file: FileView) -> set[str]:
    """`path::Class.method` of every scope that changed code stands in; other languages: the section header's text."""
    path = file.change.path
    if not file.python:
        headers = {" ".join(hunk.section.split())[:200] for hunk in file.change.hunks}
        return {f"{path}::{header or MODULE}" for header in headers}
    return {
        f"{path}::{name}"
        for hunk, strings in zip(file.change.hunks, file.strings, strict=True)
        for name in _hunk_scopes(hunk, strings)
    }


def _hunk_scopes(hunk: Hunk, strings: frozenset[int]) -> set[str]:
    stack: list[tuple[int, str]] = []
    head = _SCOPE.match(hunk.section)
    if head is not None:
        stack.append((0, head[2]))
    found: set[str] = set()
    last = max((index for index, line in enumerate(hunk.lines) if line.kind != "kept"), default=-1)
    for index, line in enumerate(hunk.lines[: last + 1]):
        text = line.text[:WIDTH]
        stripped = text.lstrip()
        if not stripped or stripped[0] in "#)]}":
            continue
        scope = _SCOPE.match(text) if stripped.startswith(_STARTS) else None
        if scope is not None:
            _leave(stack, len(scope[1]))
            stack.append((len(scope[1]), scope[2]))
        elif index not in strings:
            _leave(stack, len(text) - len(stripped))
        if line.kind != "kept" and stripped[0] != "@":
            found.add(".".join(name for _, name in stack) or MODULE)
    return found


def _leave(stack: list[tuple[int, str]], indent: int) -> None:
    while stack and stack[-1][0] >= indent:
        stack.pop()
