"""Finds the passage of a spec that a criterion rests on."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+|\n+")
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_FENCED = re.compile(r"^ {0,3}```.*?^ {0,3}```", re.MULTILINE | re.DOTALL)
_PLAIN = re.compile(r"(?<!\S)[A-Za-z][a-z]+(?=[.,;:!?)]?(?:\s|$))")
_CODE = re.compile(r"(?:File \"|>>>|Traceback|In \[|\$ |def |class |import |from \S+ import |return |raise |assert )")
MIN_WORDS = 4
MAX_QUOTE = 240


def find_anchor(spec: str | None, names: Iterable[str]) -> str | None:
    """The sentence of the spec that shares most words with the names; its first one when none shares any.

    Prose is preferred: code and tracebacks are quoted only where there is nothing else.

    Names are compared whole and by their parts (`DictUnpack` holds `dict` and `unpack`). Null without a spec.
    """
    sentences = _prose(_FENCED.sub("\n\n", spec or "")) or _sentences(spec or "")
    if not sentences:
        return None
    wanted = {piece for name in names for piece in _pieces(name)}
    counts = [len(wanted & {piece for word in _WORD.findall(text) for piece in _pieces(word)}) for text in sentences]
    best = max(range(len(sentences)), key=lambda index: (counts[index], -index))
    quote = sentences[best]
    return quote if len(quote) <= MAX_QUOTE else quote[: MAX_QUOTE - 3] + "..."


def _sentences(text: str) -> list[str]:
    return [part for piece in _SENTENCE_END.split(text) if _WORD.search(part := " ".join(piece.split()))]


def _prose(text: str) -> list[str]:
    """Sentences of a few plain words: a traceback or a line of code is a poor reason."""
    return [part for part in _sentences(text) if len(_PLAIN.findall(part)) >= MIN_WORDS and not _CODE.match(part)]


def _pieces(name: str) -> set[str]:
    return {name.lower()} | {piece.lower() for piece in _PIECE.findall(name) if len(piece) > 2}
