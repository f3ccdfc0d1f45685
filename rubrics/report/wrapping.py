"""Untrusted text on lines of a terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from rubrics.visible import one_line, shortened

WIDTH = 100
_LONGEST = 400


def say(text: Any) -> str:
    """The text on one line, made visible and cut; `-` for null."""
    return "-" if text is None else one_line(shortened(str(text), _LONGEST))


def wrapped(text: str, indent: int) -> Iterator[str]:
    """The same on as many lines as it needs, each indented."""
    for line in wrap(say(text), WIDTH - indent, break_on_hyphens=False):
        yield " " * indent + line
