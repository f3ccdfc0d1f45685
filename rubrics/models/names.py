"""Whether the model that answered is the one that was asked. Pure."""

from __future__ import annotations

import re

_VERSION = r"[-@](\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{8}|\d{6}|\d{4}|\d{3})"
"""Endings by which providers tell the versions of one model apart: -2026-01-01, -20260101, -0613, -001."""


def answers_for(asked: str, answered: str, further: tuple[str, ...] = ()) -> bool:
    """The asked name, the same without its provider or `-latest`, with a version's date, or one of `further`."""
    said = answered.strip().lower()
    if not said:
        return False
    asked = asked.strip().lower()
    parts = asked.split("/")
    names = {"/".join(parts[i:]) for i in range(len(parts))} | {name.strip().lower() for name in further}
    names |= {name.removesuffix("-latest") for name in names}
    said_names = {said, said.split("/")[-1]}
    return any(re.fullmatch(re.escape(name) + f"({_VERSION})?", one) for name in names for one in said_names)
