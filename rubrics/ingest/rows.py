"""From one JSON value to items: the reader that its form asks for, and a note of what it was taken for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rubrics.errors import InputError
from rubrics.ingest import outcome_files
from rubrics.ingest.account import READ_AS
from rubrics.ingest.aider import read_aider
from rubrics.ingest.columns import unknown_hint
from rubrics.ingest.harness import read_report
from rubrics.ingest.items import Item, Source, note_of
from rubrics.ingest.mini_swe_agent import read_bare_chat, read_mini_swe_agent
from rubrics.ingest.native import read_native
from rubrics.ingest.predictions import read_prediction, rows_by_id
from rubrics.ingest.recognise import Form, plain_names, recognise
from rubrics.ingest.run_reports import read_run_report
from rubrics.ingest.swe_agent import read_swe_agent
from rubrics.ingest.tasks import read_task

_ONE_A_FILE = ("mini-swe-agent", "bare chat", "swe-agent")
"""Trajectories: the file names the task where the document does not."""
_OF_ATTEMPTS: dict[Form, Callable[[Any, Source, bool], Iterator[Item]]] = {
    "mini-swe-agent": read_mini_swe_agent,
    "swe-agent": read_swe_agent,
    "aider": read_aider,
}
_READERS: dict[Form, Callable[[Any, Source], Iterator[Item]]] = {
    "bare chat": read_bare_chat,
    "task": read_task,
    "harness report": read_report,
    "run report": read_run_report,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """How the values of one file are read."""

    file_name: Callable[[], str]
    """Gives the outcome source of the file."""
    trust_recorded: bool = False
    """Whether what rows say was measured of themselves counts."""


def read_value(value: Any, source: Source, reading: Reading, *, alone: bool) -> Iterator[Item]:
    """The items of a document (`alone`) or of one row. Raises `InputError` when it cannot be used."""
    value = plain_names(value)
    found = recognise(value)
    if found is None:
        hint = unknown_hint(value) if isinstance(value, dict) else ""
        detail = f"{_shape(value)}: no form that is read (docs/formats.md){hint}"
        yield source.note("not_recognised", detail, topic="hint" if hint else "")
    elif found.form == "empty":
        yield source.note("empty", "an empty list or object; nothing to read")
    elif found.form == "predictions by id":
        yield from _each(rows_by_id(value, source), reading)
    elif found.form == "rows":
        places = ((row, source.at(f"{source.key} item {number}".strip())) for number, row in enumerate(value, 1))
        yield from _each(places, reading)
    else:
        yield from _items(found.form, value, source, reading, alone)
        yield source.note(READ_AS, found.why, topic=found.form)


def _items(form: Form, value: Any, source: Source, reading: Reading, alone: bool) -> Iterator[Item]:
    if form == "native":
        file_name = reading.file_name() if value["kind"] == "outcome" else ""
        yield from read_native(value, source, file_name, reading.trust_recorded)
    elif form == "prediction":
        yield from read_prediction(value, source, alone=alone, trust_recorded=reading.trust_recorded)
    elif form == "outcome":
        yield from outcome_files.read_flat(value, source, reading.file_name())
    elif form == "outcomes by run":
        yield from outcome_files.read_nested(value, source, reading.file_name())
    elif form in _ONE_A_FILE and not alone and not _names_task(value):
        raise source.wrong(f"a {form} trajectory as a row that names no task", "`instance_id`", "Add it to each row.")
    elif form in _OF_ATTEMPTS:
        yield from _OF_ATTEMPTS[form](value, source, reading.trust_recorded)
    else:
        yield from _READERS[form](value, source)


def _each(rows: Iterable[tuple[Any, Source]], reading: Reading) -> Iterator[Item]:
    """Rows of a document; one that cannot be used costs itself."""
    for row, place in rows:
        try:
            if isinstance(row, InputError):
                raise row
            yield from read_value(row, place, reading, alone=False)
        except InputError as error:
            yield note_of(error, place)


def _names_task(value: Any) -> bool:
    return isinstance(value, dict) and any(isinstance(value.get(key), str) for key in ("instance_id", "task_id"))


def _shape(value: Any) -> str:
    if isinstance(value, dict):
        return f"an object with keys {', '.join(str(key)[:40] for key in list(value)[:6])}"
    return f"a {type(value).__name__}"
