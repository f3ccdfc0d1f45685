"""JSON files: one document, a value a line, or objects over several lines, told apart by content. What is broken costs
itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any

from rubrics import jsonio
from rubrics.errors import InputError
from rubrics.ingest.documents import Limits, decode, digest_of, lines_of, parse, read_bytes, values_of
from rubrics.ingest.items import FileRef, Item, Note, Source, note_of
from rubrics.ingest.rows import Reading, read_value

_LINES_NAMES = (".jsonl", ".ndjson")
_JSON_NAMES = (".json", ".jsonl", ".ndjson", ".traj", ".pred")

_BUFFER = 1 << 18
"""Bytes read at once; lines of 20 KB take half the time that they take with the default of 8 KB."""

_Values = Iterator[tuple[Source, Any]]


def read_json(file: FileRef, limits: Limits, trust_recorded: bool) -> Iterator[Item]:
    """What a JSON file holds: one document, a value a line, or objects that follow each other over several lines."""
    notes = _Notes()
    as_lines = _looks_like_lines(file, limits)
    if as_lines or (as_lines is None and file.path.stat().st_size > limits.document // 8):
        yield from read_rows(_lines(file, limits, notes), file, trust_recorded)
        yield from notes.of(file)
        return
    data, source = read_bytes(file, limits.document), Source(file)
    try:
        value = parse(data, source, notes)
    except InputError as error:
        several = _several(data, source, notes)
        if several is not None:
            yield from read_rows(several, file, trust_recorded)
        elif as_lines is None:
            yield from read_rows(_lines(file, limits, notes), file, trust_recorded)
        elif file.name.lower().endswith(_JSON_NAMES):
            raise
        else:
            yield source.note("not_recognised", f"no JSON ({error.found}) and no other form that is read")
    else:
        yield from read_rows([(source, value)], file, trust_recorded, alone=True)
    yield from notes.of(file)


def read_rows(
    values: Iterable[tuple[Source, Any]], file: FileRef, trust_recorded: bool, *, alone: bool = False
) -> Iterator[Item]:
    """What values hold that come one at a time; an error in place of a value, or in reading it, costs that value."""
    reading = Reading(FileName(file).get, trust_recorded)
    for source, value in values:
        try:
            if isinstance(value, InputError):
                raise value
            yield from read_value(value, source, reading, alone=alone)
        except InputError as error:
            yield note_of(error, source)
        except RecursionError:
            yield source.note("nesting", "nested too deeply; flatten it")


def _looks_like_lines(file: FileRef, limits: Limits) -> bool | None:
    """Whether the file holds one JSON value a line; null when only reading it whole can tell."""
    with file.path.open("rb") as stream:
        lines = lines_of(stream, file, limits)
        first = next(lines, (None, b""))[1]
        if isinstance(first, InputError):
            return file.name.lower().endswith(_LINES_NAMES)
        second = next(lines, (None, b""))[1]
    named = file.name.lower().endswith(_LINES_NAMES)
    opens = first.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    if _is_json(first):
        return named or (bool(second) and opens)
    likely = isinstance(second, bytes) and second.startswith(b"{") and _is_json(second)
    return None if named or (likely and opens) else False


def _lines(file: FileRef, limits: Limits, notes: _Notes) -> _Values:
    with file.path.open("rb", buffering=_BUFFER) as stream:
        for source, line in lines_of(stream, file, limits):
            try:
                yield source, line if isinstance(line, InputError) else parse(line, source, notes)
            except InputError as error:
                yield source, error


def _several(data: bytes, source: Source, notes: _Notes) -> _Values | None:
    """Objects that follow each other, each over as many lines as it likes; null when the data does not begin with
    one."""
    values = _until_broken(decode(data, notes), source)
    first = next(values, (source, None))
    if not isinstance(first[1], dict):
        return None
    notes(
        "several_lines", "objects over several lines; read. Write one a line, so that a broken one costs itself alone"
    )
    return chain([first], values)


def _until_broken(text: str, source: Source) -> _Values:
    try:
        yield from values_of(text, source)
    except InputError as error:
        yield source, error


def _is_json(line: bytes) -> bool:
    try:
        jsonio.loads(line)
    except ValueError:
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
    """What had to be mended in a file; one note for each kind, whatever the number of lines."""

    def __init__(self) -> None:
        self._details: dict[str, str] = {}

    def __call__(self, kind: str, detail: str) -> None:
        self._details[kind] = detail

    def of(self, file: FileRef) -> Iterator[Note]:
        for kind, detail in self._details.items():
            yield Source(file).note(kind, detail)
