"""What stands in a file that holds a line in one of the common forms: the other way of `decoding`.

So whole disks can be searched for such files, by patterns, without reading them here.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import urllib.parse
from collections.abc import Callable, Iterator

from rubrics.preparation.decoding import reverse, rot13


def traces(line: str) -> Iterator[bytes]:
    """What stands in a file that holds the line: the line itself, then parts of it in other forms, none with a newline.

    Of forms that break lines two parts are given, of those that group characters one for each way to begin.
    """
    data = line.encode("utf-8", "surrogateescape")
    yield data
    yield from (reverse(data), rot13(data))
    yield from dict.fromkeys(item for item in _escapes(line) if item != data)
    yield from _in_base(data, 3, 4, 9 if len(data) < 26 else 12, base64.b64encode)
    yield from _in_base(data, 5, 8, 10, base64.b32encode)
    yield from _in_base(data, 4, 5, 8, base64.b85encode)
    yield from _in_base(data, 4, 5, 8, base64.a85encode)
    yield from _in_base(data, 3, 4, 9, _uu)
    for part in dict.fromkeys((data[:8], data[-8:])):
        yield from (part.hex().encode(), part.hex().upper().encode())
    for part in (data[:6], data[1:7]):
        yield from (part.hex(" ").encode(), part.hex(" ").upper().encode(), part.hex(" ", 2).encode())
        yield from (b", ".join(b"%d" % value for value in part), b",".join(b"%d" % value for value in part))
    yield "".join(f"\\x{value:02x}" for value in data[:6]).encode()
    yield ", ".join(f"0x{value:02x}" for value in data[:6]).encode()


def _escapes(line: str) -> Iterator[bytes]:
    quoted = json.dumps(line)[1:-1]
    for text in (
        quoted, json.dumps(quoted)[1:-1], html.escape(line), html.escape(line, quote=False),
        urllib.parse.quote(line), urllib.parse.quote(line, safe=""), urllib.parse.quote_plus(line),
        line.replace("'", "\\'"), line.replace("=", "=3D"),
    ):  # fmt: skip
        yield text.encode("utf-8", "surrogateescape")


def _in_base(data: bytes, group: int, _: int, size: int, encode: Callable[[bytes], bytes]) -> Iterator[bytes]:
    """Encoded parts of the data for every place at which a group may begin: near the start, and near the end."""
    for start in range(group):
        size_here = size // group * group
        if start + size_here > len(data):
            continue
        last = start + (len(data) - start - size_here) // group * group
        for place in dict.fromkeys((start, last)):
            yield encode(data[place : place + size_here])


def _uu(data: bytes) -> bytes:
    return binascii.b2a_uu(data)[1:].rstrip(b"\n")


PACKED_TRACES = (
    b"\x1f\x8b\x08", b"1AY&SY", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"PK\3\4", b"H4sI", b"/Td6WFoA", b"QlpoO", b"UEsDB",
    b"KLUv/", b"1f8b08", b"1F8B08", b"425a68", b"fd377a58", b"504b0304", b"28b52ffd", b"# v2 git bundle",
    b"# v3 git bundle",
)  # fmt: skip
"""How packed data begin, plainly, in base64 and in hex."""
