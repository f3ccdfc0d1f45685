"""What databases, pickles and packs of git hold, found without running any of it. Raises what damaged data raise."""

from __future__ import annotations

import pickletools
import re
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing

MEMBER = 16_000_000
"""Bytes read of one member or stream."""
MEMBERS = 20_000
Piece = tuple[str, bytes]
DAMAGED = (
    OSError, EOFError, ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError, RuntimeError,
    NotImplementedError, MemoryError, zlib.error, sqlite3.Error,
)  # fmt: skip
"""What reading damaged data may raise."""


def database(data: bytes) -> Iterator[Piece]:
    """Values of an SQLite database, row by row. Its views, triggers and virtual tables are not run."""
    with closing(sqlite3.connect(":memory:")) as store:
        store.deserialize(data[:18] + b"\1\1" + data[20:])  # without the log beside it, which is read on its own
        store.execute("PRAGMA trusted_schema = OFF")
        store.text_factory = bytes
        store.set_progress_handler(_Steps(), 10_000)
        listed = store.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        for name, sql in listed:
            if not bytes(sql or b"").lstrip().upper().startswith(b"CREATE VIRTUAL"):
                quoted = name.decode("utf-8", "replace").replace('"', '""')
                for row in store.execute(f'SELECT * FROM "{quoted}"'):
                    values = [value for value in row if isinstance(value, bytes)]
                    yield "", b"\n".join(values)
                    yield from (("", value) for value in values if len(values) > 1 and len(value) >= 16)


class _Steps:
    """Ends a query after some 200 million steps of the database's machine."""

    def __init__(self) -> None:
        self._left = 20_000

    def __call__(self) -> int:
        self._left -= 1
        return int(self._left < 0)


def pickled(data: bytes) -> Iterator[Piece]:
    """Texts and bytes that a pickle holds, found without running it, and all of them in one."""
    found: list[bytes] = []
    damage: Exception | None = None
    try:
        for _, value, _ in pickletools.genops(data[:MEMBER]):
            if isinstance(value, str | bytes | bytearray):
                found.append(value.encode("utf-8", "replace") if isinstance(value, str) else bytes(value))
    except DAMAGED as error:
        damage = error
    yield "", b"\n".join(found)
    yield from (("", item) for item in found if len(item) >= 16)
    if damage is not None:
        raise damage


def is_pickle(data: bytes) -> bool:
    if data[:1] == b"\x80":
        return data[1:2] in (b"\2", b"\3", b"\4", b"\5")
    return _OLD_PICKLE.match(data) is not None and data.rstrip()[-1:] == b"."


_OLD_PICKLE = re.compile(rb"\((?:[dl]p?\d*\n|i[\w.]+\n)|c[\w.]+\n[\w.]+\n|[VS][^\n]*\np\d+\n")


def pack(data: bytes) -> Iterator[Piece]:
    """Objects of a git pack, of deltas what they add."""
    start = data.index(b"PACK\0\0\0") + 12
    for _ in range(min(MEMBERS, int.from_bytes(data[start - 4 : start], "big"))):
        first = data[start]
        while data[start] & 0x80:
            start += 1
        start += 1
        if (first >> 4) & 7 == 6:
            while data[start] & 0x80:
                start += 1
            start += 1
        elif (first >> 4) & 7 == 7:
            start += 20
        decoder = zlib.decompressobj()
        yield "", decoder.decompress(data[start : start + MEMBER], MEMBER)
        left = len(data[start : start + MEMBER]) - len(decoder.unused_data)
        start += left
