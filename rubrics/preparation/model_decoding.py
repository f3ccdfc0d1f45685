"""What a file may hold in another form: packed, encoded, escaped, reversed. Pure, bounded; nothing of it is run.

Not covered: encryption, arithmetic on characters, text spread over several files.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice

from rubrics.preparation.archives import MEMBER, members

DEPTH = 4
"""Forms within forms."""
FORMS = 400
"""Forms of one file that are looked at."""
BYTES = 64_000_000
"""Bytes of all of them together."""
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-](?:[A-Za-z0-9+/_-]|\r?\n[ \t]*){38,}={0,2}")
_HEX = re.compile(rb"(?:[0-9a-fA-F]{2}[\s:,]*){24,}")
_RUNS = 8
"""Encoded passages of one text that are decoded."""
_ESCAPE = re.compile(r"\\(?:n|t|r|\\|\"|'|/|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})")


def forms(data: bytes) -> Iterator[tuple[str, str]]:
    """Texts that the data may stand for, the plain one first, each with how it is read: `gzip, base64`."""
    waiting: list[tuple[str, bytes, int]] = [("", data, 0)]
    seen: set[bytes] = set()
    left = BYTES
    while waiting and len(seen) < FORMS and left > 0:
        how, content, depth = waiting.pop(0)
        if content in seen:
            continue
        seen.add(content)
        left -= len(content)
        yield from ((_joined(how, name), text) for name, text in _texts(content))
        if depth < DEPTH and len(waiting) < FORMS:
            found = islice(_inner(content), FORMS)
            waiting += [(_joined(how, name), inner, depth + 1) for name, inner in found]


def _joined(how: str, name: str) -> str:
    return ", ".join(word for word in (how, name) if word)


def _texts(data: bytes) -> Iterator[tuple[str, str]]:
    text = data.decode("utf-8", "replace")
    yield "", text
    if data.count(b"\0") * 3 > len(data):
        wide = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-16-le"
        yield "utf-16", data.decode(wide, "replace")
    if "\\" in text:
        yield "escaped", _ESCAPE.sub(lambda match: _unescaped(match.group()), text)
    yield "reversed", text[::-1]
    yield "rot13", codecs.encode(text, "rot13")


def _unescaped(escape: str) -> str:
    named = {"\\n": "\n", "\\t": "\t", "\\r": "\r"}
    if escape[1] in "xu":
        return chr(int(escape[2:], 16))
    return named.get(escape, escape[1])


def _inner(data: bytes) -> Iterator[tuple[str, bytes]]:
    with suppress(ValueError):
        yield from (("packed", content) for _, content in members(data) if content)
    if data[:1] == b"\x78":
        yield from _decoded("zlib", data, lambda item: zlib.decompressobj().decompress(item, MEMBER))
    for run in _BASE64.findall(data[:MEMBER])[:_RUNS]:
        yield from _decoded("base64", run, _base64)
    for run in _HEX.findall(data[:MEMBER])[:_RUNS]:
        yield from _decoded("hex", run, lambda item: binascii.unhexlify(re.sub(rb"[\s:,]", b"", item)))
    words = data.strip()
    if 40 <= len(words) <= MEMBER and not re.search(rb"[\x00-\x20\x7f-\xff]", words):
        yield from _decoded("base85", words, base64.b85decode)
        yield from _decoded("ascii85", words, base64.a85decode)


def _base64(run: bytes) -> bytes:
    word = re.sub(rb"\s", b"", run).rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    return base64.b64decode(word[: len(word) // 4 * 4 + (len(word) % 4 if len(word) % 4 != 1 else 0)] + b"===")


def _decoded(name: str, data: bytes, decode: Callable[[bytes], bytes]) -> Iterator[tuple[str, bytes]]:
    try:
        found = decode(data)
    except (ValueError, zlib.error):
        return
    if found:
        yield name, found
