"""What data may stand for: packed, encoded, escaped, turned round, in forms within forms. Pure, bounded.

Not covered: encryption, arithmetic on characters, text in pieces over several files, in pictures or in machine code.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

from rubrics.preparation.containers import Unopened, embedded, opened
from rubrics.preparation.encodings import DIGITS, ESCAPES, IN_BINARY, SHORT, SMALL, is_text, speaks

_CLEARED = frozenset(how for how, _ in ESCAPES)
_TURNED = frozenset(("reversed", "rot13"))
DEPTH = 4
"""Forms within forms."""
READINGS = 30_000
"""Forms of one piece of data that are looked at."""
BYTES = 400_000_000
"""Bytes of all of them together."""
MEMBERS = 2_000_000
"""Bytes of members of archives that are looked at in other forms than as they are, and unpacked."""


class Reading(NamedTuple):
    """One way to read data."""

    how: str
    """The forms, outermost first: `gzip, base64`; empty for the data themselves."""
    name: str
    """Name of a member of an archive; empty elsewhere."""
    data: bytes


def readings(data: bytes, unopened: set[str] | None = None, packed: bool = False) -> Iterator[Reading]:
    """The data, and what they may stand for. What could not be read is said in `unopened`.

    `packed`: only what they hold packed, not what a text may stand for.
    """
    waiting = deque([(Reading("", "", data), 0)])
    seen: set[bytes] = set()
    left, room, met = BYTES, MEMBERS, unopened if unopened is not None else set()
    while waiting:
        reading, depth = waiting.popleft()
        if reading.data in seen and not reading.name:
            continue
        left -= len(reading.data)
        if left < 0 or len(seen) > READINGS:
            met.add(f"holds more than {READINGS:,} forms or {BYTES:,} bytes of them")
            return
        seen.add(reading.data)
        yield reading
        if depth == DEPTH or len(reading.data) < 12:
            continue
        room -= len(reading.data) if reading.name else 0
        for how, name, inner in _inner(reading, met, whole=not packed and (room >= 0 or not reading.name)):
            if inner or name:
                waiting.append((Reading(f"{reading.how}, {how}".lstrip(", "), name, inner), depth + 1))


def _inner(reading: Reading, unopened: set[str], whole: bool) -> Iterator[tuple[str, str, bytes]]:
    """What data hold, packed; and if it is wanted and they are no archive, what they stand for."""
    data, members = reading.data, 0
    try:
        for name, content in opened(data):
            members += 1
            yield "packed", name, content
    except Unopened as error:
        unopened.add(str(error))
    if members > 1:
        return
    if not is_text(data):
        found = embedded(data, 1 if members else 0)  # from the start too, where it is damaged
        yield from (("packed", "", content) for content in found if speaks(content))
        if not members and data.count(b"\0") >= 12:
            yield "wide", "", data.replace(b"\0", b"")
        for how, decode in IN_BINARY if whole else ():
            yield from ((how, "", found) for found in decode(data))
    elif whole:
        yield from _in_text(reading)


def _in_text(reading: Reading) -> Iterator[tuple[str, str, bytes]]:
    """Runs of digits wherever they stand. The text itself is cleared of escapes once, and where it is short twice."""
    data, steps = reading.data, reading.how.split(", ")
    short = SHORT if not reading.name else 0
    for how, decode in DIGITS:
        yield from ((how, "", found) for found in decode(data))
    cleared = sum(step in _CLEARED for step in steps)
    if _TURNED.isdisjoint(steps) and (cleared == 0 or (cleared == 1 and len(data) <= short)):
        for how, decode in ESCAPES:
            yield from ((how, "", found) for found in decode(data) if found != data)
        if cleared == 0 and len(data) <= SMALL:
            yield "reversed", "", reverse(data)
            yield "rot13", "", rot13(data)


_ROT13 = bytes(ord(codecs.encode(chr(i), "rot13")) if chr(i).isascii() and chr(i).isalpha() else i for i in range(256))


def reverse(data: bytes) -> bytes:
    return data[::-1]


def rot13(data: bytes) -> bytes:
    return data.translate(_ROT13)


TURNS: tuple[Callable[[bytes], bytes], ...] = (bytes, reverse, rot13)
"""Ways to read a text from the same bytes: as it is, from its end, with letters moved."""
