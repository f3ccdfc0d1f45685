"""Texts out of runs of digits of some base, and texts cleared of escapes: each a function from data to what they say.

Each is linear in the data, and looks first whether anything of its kind is there. None raises.
"""

from __future__ import annotations

import base64
import binascii
import html
import quopri
import re
import string
import urllib.parse
from collections.abc import Callable, Iterator
from itertools import islice

SMALL, SHORT = 1 << 20, 1 << 16
"""Longer texts are not turned round or put together, nor cleared of escapes where these are rare: see `traces`."""
_CONTROLS = bytes(i for i in range(32) if chr(i) not in "\t\n\v\f\r\x1b") + b"\x7f"
_PACKED = re.compile(
    rb"\x1f\x8b|BZh|\xfd7z|\x28\xb5|PK|x[\x01\x5e\x9c\xda]|\x5d\0\0|SQLite|PACK|# v[23]|\x80[\2-\5]|7z|!<a"
)


def is_text(data: bytes) -> bool:
    """Whether data begin like a text: hardly a control character among the first 4,096 bytes."""
    head = data[:4096]
    return (len(head) - len(head.translate(None, _CONTROLS))) * 200 <= len(head)


def speaks(data: bytes) -> bool:
    """Whether what was decoded looks like text, wide text or something packed, rather than like chance."""
    if _PACKED.match(data) is not None:
        return True
    return _says(data[:512]) or (len(data) > 40 and _says(data[16:528]))  # what stands before a run may look like it


def _says(head: bytes) -> bool:
    if head.count(b"\0") * 3 >= len(head):
        return is_text(head.replace(b"\0", b""))
    if len(head) < 8 or not is_text(head):
        return False
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(head) - 3
    return True


# Runs of digits of some base, over lines --------------------------------------------------------------------------

_RUN = re.compile(rb"[A-Za-z0-9+/_-]{20,}+(?:\r?\n[ \t>]*+[A-Za-z0-9+/_-]{4,}+)*+={0,2}")
_HEX = re.compile(rb"(?:[0-9a-fA-F]{2}){16,}+(?:\r?\n(?:[0-9a-fA-F]{2})++)*+")
_SPACED = re.compile(rb"(?:(?:0x|\\x)?[0-9a-fA-F]{2}[\s:,;'\"]{0,3}+){16,}+")
_DUMP = re.compile(
    rb"^[0-9a-fA-F]{4,8}[: \t]++"
    rb"((?:[0-9a-fA-F]{4}(?:[ \t]{1,2}|\r?$)){1,8}|(?:[0-9a-fA-F]{2}(?:[ \t]{1,2}|\r?$)){1,16})",
    re.M,
)
_NUMBERS = re.compile(rb"(?:\d{1,3}[\s,;]{1,4}+){20,}+")
_BASE32 = re.compile(rb"[A-Z2-7]{24,}+(?:\r?\n[A-Z2-7]{8,}+)*+")
_DENSE = re.compile(rb"[!-~]{40,}+(?:\r?\n[!-~]{5,}+)*+")
_UUENCODED = re.compile(rb"^M[ -`]{60}$(?:\r?\n[ -`]{1,61}$)*", re.M)
_RUNS = 4_000
"""Runs of one kind in one piece of data that are decoded."""


def _class(members: str, others: str = "") -> bytes:
    """A table that makes every member of a class `x`, of a second one a blank, and everything else a dot."""
    return bytes(ord("x") if chr(i) in members else ord(" ") if chr(i) in others else ord(".") for i in range(256))


_ALPHANUMERIC = string.ascii_letters + string.digits
_OF_BASE64 = _class(_ALPHANUMERIC + "+/_-")
_OF_BASE32 = _class(string.ascii_uppercase + "234567")
_OF_HEX = _class(string.hexdigits, string.whitespace + ":,;'\"\\")
_LONG = {size: re.compile(b"x" * size) for size in (20, 24, 32, 40)}
_APART = [re.compile(sign) for sign in (b"xx xx xx xx", b" .xx .xx .xx", b"x.xx  x.xx", b"x.xx x.xx")]
_ROWS = re.compile(rb"^[0-9a-fA-F]{4,8}[: \t]++(?:[0-9a-fA-F]{2}){1,2}[ \t]", re.M)
_OF_NUMBERS = _class(string.digits, string.whitespace + ",;")
_DENSELY = _class("".join(map(chr, range(33, 127))))


def _base64(data: bytes) -> Iterator[bytes]:
    """Each run, and each but its first line: a word before it looks like a part of it. Four ways to begin."""
    if _LONG[20].search(data.translate(_OF_BASE64)) is None:
        return
    for match in islice(_RUN.finditer(data), _RUNS):
        lines = match[0].split(b"\n")
        for first in (0, 1)[: len(lines)]:
            run = re.sub(rb"[\s>]", b"", b"".join(lines[first:])).rstrip(b"=").translate(_STANDARD)
            for start in range(4):
                found = binascii.a2b_base64(run[start : start + (len(run) - start) // 4 * 4] + _rest(run[start:]))
                if speaks(found):
                    yield found


_STANDARD = bytes.maketrans(b"-_", b"+/")


def _rest(run: bytes) -> bytes:
    """The last digits of a run that is no multiple of four, filled up."""
    more = len(run) % 4
    return run[len(run) - more :] + b"=" * (4 - more) if more > 1 else b""


def _hex(data: bytes) -> Iterator[bytes]:
    shape = data.translate(_OF_HEX)
    if _LONG[32].search(shape) is not None:
        for match in islice(_HEX.finditer(data), _RUNS):
            yield from filter(speaks, _unhex(match[0]))
    if not is_text(data):
        return
    if any(sign.search(shape) is not None for sign in _APART):
        for match in islice(_SPACED.finditer(data), _RUNS):
            yield from filter(speaks, _unhex(re.sub(rb"0x|\\x", b"", match[0])))
    if _ROWS.search(data) is not None and (rows := _DUMP.findall(data)):
        yield from _unhex(b"".join(rows))
        yield from _unhex(re.sub(rb"([0-9a-fA-F]{2})([0-9a-fA-F]{2})", rb"\2\1", b"".join(rows)))


def _unhex(digits: bytes) -> Iterator[bytes]:
    word = re.sub(rb"[^0-9a-fA-F]", b"", digits)
    yield binascii.unhexlify(word[: len(word) // 2 * 2])


def _numbers(data: bytes) -> Iterator[bytes]:
    shape = data.translate(_OF_NUMBERS)
    if not any(sign in shape for sign in (b"x xx xx", b"x  xx  xx", b"x xxx xx", b"x  xxx  xx")):
        return
    for match in islice(_NUMBERS.finditer(data), _RUNS):
        values = [int(word) for word in re.findall(rb"\d+", match[0])]
        if max(values) < 256:
            yield bytes(values)


def _base32(data: bytes) -> Iterator[bytes]:
    if _LONG[24].search(data.translate(_OF_BASE32)) is None:
        return
    for match in islice(_BASE32.finditer(data), _RUNS):
        word = b"".join(match[0].split())
        word = word[: len(word) // 8 * 8 + (0, 0, 2, 2, 4, 5, 5, 7)[len(word) % 8]]
        found = base64.b32decode(word + b"=" * (-len(word) % 8))
        if speaks(found):
            yield found


def _base85(data: bytes) -> Iterator[bytes]:
    if _LONG[40].search(data.translate(_DENSELY)) is None:
        return
    for match in islice(_DENSE.finditer(data), 1_000):
        word = b"".join(match[0].split())
        if len(set(word).difference(_ALPHANUMERIC.encode())) < 5:
            continue
        for decode in (base64.b85decode, base64.a85decode):
            try:
                found = decode(word.removeprefix(b"<~").removesuffix(b"~>"))
            except ValueError:
                continue
            if speaks(found):
                yield found


def _uuencoded(data: bytes) -> Iterator[bytes]:
    for match in islice(_UUENCODED.finditer(data), _RUNS):
        found = bytearray()
        for line in match[0].splitlines():
            try:
                found += binascii.a2b_uu(line)
            except binascii.Error:
                break
        yield bytes(found)


# Escapes: the text itself, with something else where it was not allowed to stand ------------------------------------

_ESCAPE = re.compile(r"\\(?:[ntr\\\"'/]|x[0-9a-fA-F]{2}|u\{?[0-9a-fA-F]{4}\}?|U[0-9a-fA-F]{8}|[0-7]{3})")
_COLOUR = re.compile(rb"\x1b\[[0-9;:?]*+[A-Za-z]|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)")
_TAG = re.compile(rb"<[/!A-Za-z][^<>]{0,400}>")
_NAMED = {"n": "\n", "t": "\t", "r": "\r"}


def _many(data: bytes, *signs: bytes) -> bool:
    """Whether signs of an escape stand in a short text at all, and in a longer one often."""
    return sum(map(data.count, signs)) * 300 >= (len(data) if len(data) > SHORT else 1)


def _unescaped(data: bytes) -> Iterator[bytes]:
    if _many(data, b"\\"):
        text = data.decode("utf-8", "replace")
        yield _ESCAPE.sub(lambda match: _character(match[0][1:]), text).encode("utf-8", "replace")


def _character(escape: str) -> str:
    if escape[0] in "xuU":
        number = int(escape[1:].strip("{}"), 16)
        return chr(number) if number < 0x110000 else "?"
    return chr(int(escape, 8)) if escape[0] in "01234567" else _NAMED.get(escape, escape)


def _percent(data: bytes) -> Iterator[bytes]:
    if _many(data, b"%"):
        yield urllib.parse.unquote_to_bytes(data)
        yield urllib.parse.unquote_to_bytes(data.replace(b"+", b" "))


def _printable(data: bytes) -> Iterator[bytes]:
    if _many(data, b"=3D", b"=\n", b"=\r\n", b"=20"):
        yield quopri.decodestring(data)


def _markup(data: bytes) -> Iterator[bytes]:
    if _many(data, b"&"):
        yield html.unescape(data.decode("utf-8", "replace")).encode("utf-8", "replace")
    if _many(data, b"<"):
        yield html.unescape(_TAG.sub(b"", data).decode("utf-8", "replace")).encode("utf-8", "replace")


def _uncoloured(data: bytes) -> Iterator[bytes]:
    if b"\x1b" in data:
        yield _COLOUR.sub(b"", data)


def _rejoined(data: bytes) -> Iterator[bytes]:
    """A run of digits that a program holds as strings, one a line."""
    if len(data) <= SMALL and re.search(rb"[A-Za-z0-9+/]{20}['\"]", data) is not None:
        yield re.sub(rb"['\"][\s,+\\()]*['\"]", b"", data)


_Decode = Callable[[bytes], Iterator[bytes]]
DIGITS: tuple[tuple[str, _Decode], ...] = (
    ("base64", _base64), ("hex", _hex), ("numbers", _numbers), ("base32", _base32), ("base85", _base85),
    ("uuencoded", _uuencoded),
)  # fmt: skip
ESCAPES: tuple[tuple[str, _Decode], ...] = (
    ("escaped", _unescaped), ("percent", _percent), ("quoted-printable", _printable), ("markup", _markup),
    ("coloured", _uncoloured), ("joined", _rejoined),
)  # fmt: skip
IN_BINARY: tuple[tuple[str, _Decode], ...] = DIGITS[:2]
