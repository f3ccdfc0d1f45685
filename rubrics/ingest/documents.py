"""Bytes of a dump to JSON values, within limits. The one place where lone surrogates become U+FFFD.

Covered: one document, JSON lines, other encodings (decoded with U+FFFD in place of what is no UTF-8), truncated text.
Nothing above the limits is read into memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import orjson

from rubrics import jsonio
from rubrics.errors import InputError
from rubrics.ingest.items import FileRef, Source

MAX_DOCUMENT = 512 * 1024**2
"""Largest single JSON document, in bytes."""
MAX_LINE = 256 * 1024**2
"""Longest line of JSON lines, in bytes."""

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Limits:
    document: int = MAX_DOCUMENT
    line: int = MAX_LINE


def parse(data: bytes | str, source: Source, report: Callable[[str, str], None]) -> Any:
    """One JSON value. `report(kind, detail)` is told when the bytes were no UTF-8. Raises `InputError`."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    text = decode(data, report) if isinstance(data, bytes) else data
    try:
        return storable(jsonio.loads(text))
    except json.JSONDecodeError as error:
        _refuse(error, text, source)
    except (ValueError, RecursionError) as error:
        raise source.wrong(str(error), "JSON nested less than 1,000 deep", "Flatten it.", kind="nesting") from None


def decode(data: bytes, report: Callable[[str, str], None]) -> str:
    """Text of the bytes, whatever they are. `report` is told when something was replaced."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        report("encoding", "UTF-16; decoded. Store it as UTF-8")
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        report("encoding", "bytes that are not UTF-8 became U+FFFD; store the file as UTF-8")
        return data.decode("utf-8-sig", "replace")


def storable(value: Any) -> Any:
    """The value with every lone surrogate replaced by U+FFFD and every number that JSON lacks by null."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value) if not value.isascii() else value
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [storable(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return storable(float(value)) if abs(value) < 10**300 else None
    return value


def read_document(file: FileRef, limits: Limits, report: Callable[[str, str], None]) -> Any:
    """The file as one JSON value. Raises `InputError` when it is too large or is not JSON."""
    return parse(read_bytes(file, limits.document), Source(file), report)


def read_bytes(file: FileRef, limit: int) -> bytes:
    """The whole file, if it is not larger than `limit`."""
    data = b""
    too_large = file.path.stat().st_size > limit
    if not too_large:
        with file.path.open("rb") as stream:
            data = stream.read(limit + 1)
    if too_large or len(data) > limit:
        raise Source(file).wrong(
            f"more than {limit:,} bytes", "a smaller document", "Write it as JSON lines.", kind="size"
        )
    return data


def lines_of(stream: BinaryIO, file: FileRef, limits: Limits) -> Iterator[tuple[Source, bytes | InputError]]:
    """Each line that is not blank with its place; an error instead of a line that is too long."""
    number = 0
    while line := stream.readline(limits.line + 1):
        number += 1
        source = Source(file, f"line {number}")
        if len(line) > limits.line and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(limits.line)
            wanted = f"lines of at most {limits.line:,} bytes"
            yield source, source.wrong("a longer line", wanted, "Store this row apart.", kind="size")
        elif not line.isspace():
            yield source, line


def digest_of(path: Path) -> str:
    """First 12 hex digits of the digest of a file's bytes."""
    state = blake2b(digest_size=16)
    with path.open("rb") as stream:
        while chunk := stream.read(1024**2):
            state.update(chunk)
    return state.hexdigest()[:12]


def depth_within(value: object, limit: int) -> bool:
    """Whether lists and objects are nested at most `limit` deep."""
    level: list[dict[str, object] | list[object]] = [value] if isinstance(value, (dict, list)) else []
    for _ in range(limit):
        if not level:
            return True
        level = [
            inner
            for item in level
            for inner in (item.values() if isinstance(item, dict) else item)
            if isinstance(inner, (dict, list))
        ]
    return not level


def _refuse(error: json.JSONDecodeError, text: str, source: Source) -> NoReturn:
    """Say where the JSON breaks, and whether the text just stops; never quote it: it may be sealed."""
    place = f"line {error.lineno}, column {error.colno}"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        found, remedy, kind = f"text that stops at {place}", "Copy the file again.", "truncated"
    else:
        found, remedy, kind = f"{error.msg} at {place}", "Correct it there.", "not_json"
    raise source.wrong(found, "JSON", remedy, kind=kind) from None
