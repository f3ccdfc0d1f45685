"""Plain outcome files: `task -> run -> {resolved, ...}`, and flat rows `task_id, run, resolved` in JSON or CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping

from rubrics import jsonio
from rubrics.errors import InputError
from rubrics.ingest.documents import decode, storable
from rubrics.ingest.items import Item, Recorded, RunName, Source, note_of
from rubrics.ingest.row_transcripts import holds_attempt
from rubrics.ingest.values import Fields, Row, name_of
from rubrics.ingest.verdicts import verdict_of

REFERENCE_RUNS = frozenset({"(empty)", "(gold)", "gold"})
"""Runs that are no attempts: the empty patch and the reference."""

_INSTANCE = re.compile(r".+__.+-\d+")


def nested_marks(document: Row) -> list[str]:
    """The marks of `{task: {run: outcome}}`, an outcome being 0, 1, a boolean, null or an object with `resolved`.

    Where the ids have the form `owner__repo-1`, a value of another form is an outcome that is refused.
    """
    inner = [value for value in document.values() if isinstance(value, dict)]
    leaves = [leaf for value in inner for leaf in value.values()]
    if not leaves or len(inner) != len(document):
        return []
    proper = sum(_is_leaf(leaf) for leaf in leaves)
    named = all(map(_INSTANCE.fullmatch, document)) or all(_INSTANCE.fullmatch(key) for value in inner for key in value)
    scalar = all(not isinstance(leaf, (dict, list)) or _is_leaf(leaf) for leaf in leaves)
    return ["outcomes by task and run"] if proper == len(leaves) or (named and scalar and proper) else []


def flat_marks(row: Row) -> list[str]:
    """The marks of a row that says `resolved` of a task's run and holds nothing of the attempt itself."""
    flat = "resolved" in row and "run" in row and ("task_id" in row or "instance_id" in row)
    return ["resolved", "run"] if flat and not holds_attempt(row) else []


def is_header(line: str) -> bool:
    """Whether the line is the header of a CSV of outcomes."""
    names = {part.strip().strip('"') for part in line.split(",")}
    return "resolved" in names and bool(names & {"task_id", "instance_id"})


def read_nested(document: Row, source: Source, file_name: str) -> Iterator[Item]:
    """Outcomes of a nested file; `{run: {task: 0 or 1}}` is told by ids of the form `owner__repo-1` inside."""
    turned = not any(_INSTANCE.fullmatch(key) for key in document) and all(
        _INSTANCE.fullmatch(key) for value in document.values() for key in value
    )
    for outer, inner in document.items():
        for key, leaf in inner.items():
            task_id, run = (key, outer) if turned else (outer, key)
            place = source.at(f"{outer}/{key}")
            row = leaf if isinstance(leaf, Mapping) else {"resolved": leaf}
            yield from _recorded(row, place, task_id, run, file_name)


def read_flat(row: Row, source: Source, file_name: str) -> Iterator[Item]:
    """The outcome of one flat row."""
    task_id = name_of(row, source, "task_id", "instance_id")
    yield from _recorded(row, source, task_id, name_of(row, source, "run"), file_name)


def read_csv(lines: Iterable[tuple[Source, bytes | InputError]], source: Source, file_name: str) -> Iterator[Item]:
    """Outcomes of a CSV with a header line. A row that cannot be used costs itself."""
    notes: dict[str, str] = {}
    place = source

    def texts() -> Iterator[str]:
        nonlocal place
        for at, line in lines:
            place = at
            if isinstance(line, bytes):
                yield str(storable(decode(line, notes.__setitem__)))

    reader = csv.DictReader(texts())
    try:
        for row in reader:
            try:
                yield from read_flat({key: value for key, value in row.items() if key}, place, file_name)
            except InputError as error:
                yield note_of(error, place)
    except csv.Error as error:
        remedy = "Quote fields that hold commas or line ends."
        raise place.wrong(str(error), "CSV", remedy, kind="not_csv") from None
    yield from (source.note(kind, detail) for kind, detail in notes.items())


def _recorded(row: Row, source: Source, task_id: str, run: str, file_name: str) -> Iterator[Item]:
    if run in REFERENCE_RUNS:
        yield source.note(
            "not_an_attempt", f"run {run!r} is a reference point, no attempt; left out", subject="outcome"
        )
        return
    fields = Fields(row, source)
    verdict = verdict_of(row, source)
    yield from verdict.notes
    failing = [name for key in ("f2p_fail", "p2p_fail") for name in _failing(row, key)]
    yield Recorded(
        task_id, RunName(run), source, file_name, verdict.outcome, policy=fields.name("policy"),
        attempt=fields.index("attempt"), given_id=fields.name("rollout_id"), detail=fields.text("detail") or
        verdict.detail, tests=jsonio.dumps(dict.fromkeys(failing, "failed")) if failing else None,
    )  # fmt: skip
    yield from fields.notes


def _failing(row: Row, key: str) -> list[str]:
    value = row.get(key)
    return [str(name) for name in value] if isinstance(value, list) else []


def _is_leaf(leaf: object) -> bool:
    if isinstance(leaf, dict):
        return "resolved" in leaf
    return leaf is None or (isinstance(leaf, (bool, int, float)) and leaf in (0, 1))
