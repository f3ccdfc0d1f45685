"""Finds the passage of a spec that a criterion rests on."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+|\n+")
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
MAX_QUOTE = 240


def find_anchor(spec: str | None, names: Iterable[str]) -> str | None:
    """The sentence of the spec that shares most words with the names; its first one when none shares any.

    Names are compared whole and by their parts (`DictUnpack` holds `dict` and `unpack`). Null without a spec.
    """
    sentences = [text for part in _SENTENCE_END.split(spec or "") if _WORD.search(text := " ".join(part.split()))]
    if not sentences:
        return None
    wanted = {piece for name in names for piece in _pieces(name)}
    counts = [len(wanted & {piece for word in _WORD.findall(text) for piece in _pieces(word)}) for text in sentences]
    best = max(range(len(sentences)), key=lambda index: (counts[index], -index))
    quote = sentences[best]
    return quote if len(quote) <= MAX_QUOTE else quote[: MAX_QUOTE - 3] + "..."


def _pieces(name: str) -> set[str]:
    return {name.lower()} | {piece.lower() for piece in _PIECE.findall(name) if len(piece) > 2}
