"""JSON files: one document or a value a line, told apart by content. A broken line costs itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import orjson

from rubrics.errors import InputError
from rubrics.ingest.documents import Limits, digest_of, lines_of, parse, read_document
from rubrics.ingest.items import FileRef, Item, Source, census_of
from rubrics.ingest.rows import read_value
from rubrics.records.census import CensusLine

_LINES_NAMES = (".jsonl", ".ndjson")
_JSON_NAMES = (".json", ".jsonl", ".ndjson", ".traj", ".pred")


def read_json(file: FileRef, limits: Limits) -> Iterator[Item]:
    """What a JSON file holds: one document, or a value a line."""
    as_lines = _looks_like_lines(file, limits)
    if as_lines is None and file.path.stat().st_size > limits.document // 8:
        as_lines = True
    if as_lines is not True:
        try:
            value = read_document(file, limits, notes := _Notes())
        except InputError as error:
            if as_lines is False and file.name.lower().endswith(_JSON_NAMES):
                raise
            if as_lines is False:
                yield Source(file).note("not_recognised", f"no JSON ({error.found}) and no other form that is read")
                return
        else:
            yield from notes.lines(file)
            yield from _values(value, Source(file), FileName(file), alone=True)
            return
    yield from _read_lines(file, limits)


def _looks_like_lines(file: FileRef, limits: Limits) -> bool | None:
    """Whether the file holds one JSON value a line; null when only reading it whole can tell."""
    with file.path.open("rb") as stream:
        lines = lines_of(stream, file, limits)
        first = next(lines, (None, b""))[1]
        if isinstance(first, InputError):
            return file.name.lower().endswith(_LINES_NAMES)
        second = next(lines, (None, b""))[1]
    named = file.name.lower().endswith(_LINES_NAMES)
    if _is_json(first):
        return named or (bool(second) and first.lstrip().startswith(b"{"))
    likely = isinstance(second, bytes) and second.startswith(b"{") and _is_json(second)
    return None if named or (likely and first.lstrip().startswith(b"{")) else False


def _read_lines(file: FileRef, limits: Limits) -> Iterator[Item]:
    notes = _Notes()

    def values() -> Iterator[tuple[Source, Any]]:
        with file.path.open("rb") as stream:
            for source, line in lines_of(stream, file, limits):
                try:
                    yield source, line if isinstance(line, InputError) else parse(line, source, notes)
                except InputError as error:
                    yield source, error

    yield from read_rows(values(), file)
    yield from notes.lines(file)


def read_rows(values: Iterable[tuple[Source, Any]], file: FileRef) -> Iterator[Item]:
    """What rows hold that come one at a time; an error in place of a row is passed on to the census."""
    name = FileName(file)
    for source, value in values:
        if isinstance(value, InputError):
            yield census_of(value)
        else:
            yield from _values(value, source, name, alone=False)


def _values(value: Any, source: Source, name: FileName, *, alone: bool) -> Iterator[Item]:
    """What one value holds. A value that cannot be used costs itself."""
    try:
        yield from read_value(value, source, name.get, alone=alone)
    except InputError as error:
        yield census_of(error)
    except RecursionError:
        yield source.note("nesting", f"{source.key or 'the document'} is nested too deeply; flatten it")


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True


class FileName:
    """Outcome source of a file, `file:<digest>`; the file is digested only when that is asked."""

    def __init__(self, file: FileRef) -> None:
        self._file = file

    @cached_property
    def text(self) -> str:
        return f"file:{digest_of(self._file.path)}"

    def get(self) -> str:
        return self.text


class _Notes:
    """What decoding a file reported; one census line for each kind, whatever the number of lines."""

    def __init__(self) -> None:
        self._details: dict[str, str] = {}

    def __call__(self, kind: str, detail: str) -> None:
        self._details[kind] = detail

    def lines(self, file: FileRef) -> Iterator[CensusLine]:
        for kind, detail in self._details.items():
            yield Source(file).note(kind, detail)
