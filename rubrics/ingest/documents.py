"""Bytes of a dump to JSON values, within limits. The one place where lone surrogates become U+FFFD.

Covered: one document, JSON lines, objects that follow each other over several lines, commas before a closing bracket,
other encodings (decoded with U+FFFD in place of what is no UTF-8), truncated text. NaN and infinities stay floats: what
stores or checks a number says what it does with them. Nothing above the limits is read into memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from math import isfinite
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
_BLANKS = re.compile(r"[ \t\n\r]*")
_STRING_OR_COMMA = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|,(?=[ \t\n\r]*[}\]])', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Limits:
    document: int = MAX_DOCUMENT
    line: int = MAX_LINE


def parse(data: bytes | str, source: Source, report: Callable[[str, str], None]) -> Any:
    """One JSON value. `report(kind, detail)` is told what had to be mended to read it. Raises `InputError`."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    text = decode(data, report) if isinstance(data, bytes) else data
    try:
        return storable(jsonio.loads(text))
    except json.JSONDecodeError as error:
        mended = _without_trailing_commas(text)
        if mended is None:
            _refuse(error, text, source)
    except (ValueError, RecursionError) as error:
        raise _nesting(error, source) from None
    value = _mended(text, mended, source)
    report("trailing_comma", "a comma before a closing bracket is no JSON; read without it. Take it out")
    return value


def values_of(text: str, source: Source) -> Iterator[tuple[Source, Any]]:
    """The JSON values that follow each other in a text, each with the line where it begins. Raises `InputError` at the
    first place where none does."""
    decoder = json.JSONDecoder(strict=False)
    position, line = 0, 1
    while (start := _BLANKS.match(text, position).end()) < len(text):  # type: ignore[union-attr]
        line += text.count("\n", position, start)
        here = source.at(f"line {line}")
        try:
            value, position = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            _refuse(error, text, here)
        except RecursionError as error:
            raise _nesting(error, here) from None
        line += text.count("\n", start, position)
        yield here, storable(value)


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
    """The value with every lone surrogate replaced by U+FFFD and every whole number of more than 64 bits by a float."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value) if not value.isascii() else value
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [storable(item) for item in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return float(value) if abs(value) < 10**300 else float("inf")
    return value


def finite(value: Any) -> Any:
    """The value as its stored JSON gives it back: NaN and infinities, which JSON lacks, are null."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list) else value


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


def _without_trailing_commas(text: str) -> str | None:
    """The text without the commas that stand before a closing bracket; null when there is none. Linear in the text."""
    mended = _STRING_OR_COMMA.sub(lambda match: " " if match[0] == "," else match[0], text)
    return mended if mended != text else None


def _mended(text: str, mended: str, source: Source) -> Any:
    """The value of the mended text; what is still wrong is said of the text as it stands."""
    try:
        return storable(jsonio.loads(mended))
    except json.JSONDecodeError as error:
        _refuse(error, text, source)
    except (ValueError, RecursionError) as error:
        raise _nesting(error, source) from None


def _nesting(error: Exception, source: Source) -> InputError:
    return source.wrong(str(error), "JSON nested less than 1,000 deep", "Flatten it.", kind="nesting")


def _refuse(error: json.JSONDecodeError, text: str, source: Source) -> NoReturn:
    """Say where the JSON breaks, and whether the text just stops; never quote it: it may be sealed."""
    place = f"line {error.lineno}, column {error.colno}"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        found, remedy, kind = f"text that stops at {place}", "Copy the file again.", "truncated"
    else:
        found, remedy, kind = f"{error.msg} at {place}", "Correct it there.", "not_json"
    raise source.wrong(found, "JSON", remedy, kind=kind) from None
