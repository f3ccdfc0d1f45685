"""From one JSON value to items: the reader that its form asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rubrics.errors import InputError
from rubrics.ingest import outcome_files
from rubrics.ingest.aider import read_aider
from rubrics.ingest.harness import read_report, read_run_report
from rubrics.ingest.items import Item, Source, census_of
from rubrics.ingest.mini_swe_agent import read_bare_chat, read_mini_swe_agent
from rubrics.ingest.native import read_native
from rubrics.ingest.predictions import read_prediction, rows_by_id
from rubrics.ingest.recognise import Form, form_of
from rubrics.ingest.swe_agent import read_swe_agent
from rubrics.ingest.tasks import read_task

_READERS: dict[Form, Callable[[Any, Source], Iterator[Item]]] = {
    "mini_swe_agent": read_mini_swe_agent,
    "bare_chat": read_bare_chat,
    "swe_agent": read_swe_agent,
    "aider": read_aider,
    "task": read_task,
    "report": read_report,
    "run_report": read_run_report,
}


def read_value(value: Any, source: Source, file_name: Callable[[], str], *, alone: bool) -> Iterator[Item]:
    """The items of a document (`alone`) or of one row. `file_name` gives the outcome source of the file."""
    form = form_of(value)
    if form is None:
        yield source.note("not_recognised", f"{_shape(value)}: no form that is read (docs/formats.md)")
    elif form == "empty":
        yield source.note("empty", "an empty list or object; nothing to read")
    elif form == "native":
        yield from read_native(value, source, file_name() if value["kind"] == "outcome" else "")
    elif form == "prediction":
        yield from read_prediction(value, source, alone=alone)
    elif form == "outcome":
        yield from outcome_files.read_flat(value, source, file_name())
    elif form == "outcomes_nested":
        yield from outcome_files.read_nested(value, source, file_name())
    elif form == "predictions_by_id":
        yield from _each(rows_by_id(value, source), file_name)
    elif form == "rows":
        rows = ((row, source.at(f"{source.key} item {number}".strip())) for number, row in enumerate(value, 1))
        yield from _each(rows, file_name)
    else:
        yield from _READERS[form](value, source)


def _each(rows: Iterable[tuple[Any, Source]], file_name: Callable[[], str]) -> Iterator[Item]:
    """Rows of a document; one that cannot be used costs itself."""
    for row, place in rows:
        try:
            yield from read_value(row, place, file_name, alone=False)
        except InputError as error:
            yield census_of(error)


def _shape(value: Any) -> str:
    if isinstance(value, dict):
        return f"an object with keys {', '.join(str(key)[:40] for key in list(value)[:6])}"
    return f"a {type(value).__name__}"
