"""Keys taken out of what an endpoint says, whole or in pieces, as they are or encoded. Pure.

Compared are letters and digits alone, without case: so a key is found that is broken by blanks, line ends, zero-width
characters or punctuation, written in full-width letters, or escaped as in URLs, JSON or HTML; and, as forms of their
own, reversed, turned by 13, and in hex, octal, decimal codes, base32 and base64 wherever it lies in what was encoded.

A piece counts from 8 characters (of encodings: from what stands for about 8). One that may be words counts from 24,
from 12 where it is unbroken, and with its punctuation. Not covered: shorter pieces, compression, encryption.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b32encode, b64encode
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase, ascii_uppercase
from typing import Any

MARK = "[key]"
"""What stands where a key was."""
SHORTEST, SHORTEST_WORDS, KEY_OF_WORDS = 8, 24, 12
_GRAM, _STRIDE = 5, 4
"""Any piece of 8 holds one of the text's runs of 5 that begin at a multiple of 4."""
_PLACES = 8
"""Places of a key that are tried for one such run."""
_DEEPEST = 60
"""Levels of an answer below which nothing is kept."""
_OTHER = bytes(code for code in range(128) if not chr(code).isalnum())
_LOWER = bytes(range(256)).lower()
_WORDS = re.compile(r"[A-Za-z][a-z]{5,}[0-9]*|[A-Z]{6,}[0-9]*|[0-9]*(?:[A-Za-z][a-z]{5,}|[A-Z]{6,})")
"""Letters of one case but for the first, before or behind them digits: as `version2`."""
_ESCAPE = re.compile(
    r"%([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\u\{([0-9a-fA-F]{1,6})\}|\\x([0-9a-fA-F]{2})|&#[xX]([0-9a-fA-F]{1,6});"
    r"|&#([0-9]{1,7});"
)
_ROT13 = str.maketrans(
    ascii_lowercase + ascii_uppercase,
    ascii_lowercase[13:] + ascii_lowercase[:13] + ascii_uppercase[13:] + ascii_uppercase[:13],
)


@dataclass(frozen=True, slots=True)
class _Form:
    """A way in which a key may be written."""

    text: str
    """Letters and digits, without case."""
    cased: str
    """The same with case."""
    least: int
    """Characters from which a piece of it counts."""

    def is_word(self, start: int, length: int) -> bool:
        """Whether a piece may be a word, or the end of one and the beginning of the next."""
        piece = self.cased[start : start + length]
        return length < min(len(self.text), SHORTEST_WORDS) and bool(_WORDS.fullmatch(piece))


@dataclass(frozen=True, slots=True)
class _Piece:
    """A place in the normal text."""

    start: int
    end: int
    is_word: bool

    def better(self, other: _Piece) -> bool:
        return (not self.is_word, self.end - self.start) > (not other.is_word, other.end - other.start)


class Redactor:
    """Takes these secrets out of texts. The same for all of a process: it holds no state."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        self._secrets = [secret.lower() for secret in secrets]
        self._forms = [form for secret in secrets for form in _forms(secret)]
        self._places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, form in enumerate(self._forms):
            for start in range(len(form.text) - _GRAM + 1):
                places = self._places[form.text[start : start + _GRAM]]
                if len(places) < _PLACES:
                    places.append((number, start))
        self._places = dict(self._places)

    def __call__(self, text: str) -> str:
        """The text with `MARK` in the place of every secret and every piece of one."""
        if len(text) < SHORTEST or not self._forms:
            return text
        found = list(self._found(_normal(text)))
        if not found:
            return text
        places = list(_mapped(text))
        kept, last = [], 0
        for piece in found:
            start, end = places[piece.start][0], places[piece.end - 1][1]
            if not piece.is_word or self._holds(text[start:end].lower()):
                kept += [text[last:start], MARK]
                last = end
        return "".join(kept) + text[last:]

    def _holds(self, text: str) -> bool:
        """Whether a text that may be words stands in a key as it is: with punctuation, or as a very long word."""
        telling = not text.isalnum() or len(text) >= KEY_OF_WORDS
        return telling and any(text in secret or text[::-1] in secret for secret in self._secrets)

    def value(self, value: Any, depth: int = 0) -> Any:
        """A JSON value with every text redacted, names too."""
        if isinstance(value, str):
            return self(value)
        if not isinstance(value, dict | list):
            return value
        if depth >= _DEEPEST:
            return None
        if isinstance(value, list):
            return [self.value(item, depth + 1) for item in value]
        return {self(str(name)): self.value(item, depth + 1) for name, item in value.items()}

    def _found(self, text: str) -> Iterator[_Piece]:
        """Pieces, in order and apart."""
        at, last = 0, 0
        while at <= len(text) - _GRAM:
            places = self._places.get(text[at : at + _GRAM])
            piece = self._longest(text, at, last, places) if places else None
            if piece is None:
                at += _STRIDE
            else:
                yield piece
                at = last = piece.end

    def _longest(self, text: str, at: int, first: int, places: list[tuple[int, int]]) -> _Piece | None:
        """The longest piece that holds the run at a place and begins not before `first`; null: none is long enough."""
        best: _Piece | None = None
        for number, start in places:
            form = self._forms[number]
            left, right = _reach(text, at, first, form.text, start)
            found = _Piece(left, right, form.is_word(start - (at - left), right - left))
            if right - left >= form.least and (best is None or found.better(best)):
                best = found
        return best


def keys_of(secrets: Iterable[str]) -> tuple[str, ...]:
    """Those secrets that look like keys: long enough, and neither words that stand for no key, nor paths."""
    return tuple(secret for secret in secrets if not secret.startswith(("/", "~", ".")) and _is_key(secret))


def _is_key(secret: str) -> bool:
    compared = "".join(c for c in secret if c.isalnum())
    return len(compared) >= KEY_OF_WORDS or (len(compared) >= SHORTEST and not compared.isalpha())


@lru_cache(maxsize=64)
def redactor(secrets: tuple[str, ...]) -> Redactor:
    """The redactor of these secrets, made once."""
    return Redactor(secrets)


def _reach(text: str, at: int, first: int, form: str, start: int) -> tuple[int, int]:
    """How far text and form agree around a place in each."""
    left, right = 0, _GRAM
    while at - left > first and start - left > 0 and text[at - left - 1] == form[start - left - 1]:
        left += 1
    while at + right < len(text) and start + right < len(form) and text[at + right] == form[start + right]:
        right += 1
    return at - left, at + right


def _forms(secret: str) -> Iterator[_Form]:
    for said in (secret, secret[::-1], secret.translate(_ROT13)):
        data = said.encode("utf-8", "surrogatepass")
        encoded = [(data.hex(), 14), *((text, 10) for text in _base64(data)), (b32encode(data).decode(), 12)]
        encoded += [("".join(str(byte) for byte in data), 16), ("".join(f"{byte:o}" for byte in data), 20)]
        for text, least in (*encoded, *((text[::-1], least) for text, least in encoded)):
            yield from _form(text, least)
        yield from _form(said, SHORTEST)


def _form(text: str, least: int) -> Iterator[_Form]:
    cased = "".join(c for c in unicodedata.normalize("NFKD", text) if c.isascii() and c.isalnum())
    if len(cased) >= SHORTEST:
        yield _Form(cased.lower(), cased, least)


def _base64(data: bytes) -> Iterator[str]:
    """The three ways in which bytes stand in base64, by what stood before them; what neighbours decide is left out."""
    for before in range(3):
        text = b64encode(b"\0" * before + data).decode().rstrip("=")
        whole = (before + len(data)) % 3 == 0
        yield text[(0, 2, 3)[before] : len(text) if whole else -1]


def _normal(text: str) -> str:
    """Letters and digits of ASCII, unescaped, in lower case."""
    if "%" in text or "\\" in text or "&#" in text:
        text = _ESCAPE.sub(_unescaped, text)
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    return text.encode("ascii", "ignore").translate(_LOWER, _OTHER).decode()


def _mapped(text: str) -> Iterator[tuple[int, int]]:
    """Where each character of the normal text comes from: start and end in the text itself."""
    last = 0
    for match in (*_ESCAPE.finditer(text), None):
        for place in range(last, match.start() if match else len(text)):
            yield from [(place, place + 1)] * len(_normal(text[place]))
        if match:
            yield from [match.span()] * len(_normal(_unescaped(match)))
            last = match.end()


def _unescaped(match: re.Match[str]) -> str:
    *in_hex, in_decimals = match.groups()
    code = int(in_decimals) if in_decimals else int(next(filter(None, in_hex)), 16)
    return chr(code) if code < 0x110000 else ""
