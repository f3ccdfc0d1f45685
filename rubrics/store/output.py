"""Rows handed to people and to other programs: CSV, JSON, JSON lines, Markdown, Parquet.

In CSV a text that a spreadsheet would take for a formula gets an apostrophe before it (the rule of OWASP), and cells
that hold a separator of any locale are quoted; numbers stay numbers. Nothing is changed in the other forms. What is not
a number (NaN, infinite) is null in JSON.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from rubrics.errors import UsageError
from rubrics.store.files import TEMPORARY, named

ENDINGS = {
    ".csv": "csv", ".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".md": "markdown",
}  # fmt: skip
FORMATS = ("csv", "jsonl", "json", "markdown", "parquet")
_BATCH = 1000
_FORMULA = re.compile("[\\s\ufeff\u200b-\u200f\u2060]*[=+\\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
"""Beginnings after which spreadsheets compute, the full-width signs too, also behind what they leave out."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_QUOTED = re.compile('[",;\t\r\n]|^ | $')
_IN_MARKDOWN = {"\\": "\\\\", "|": "\\|", "<": "&lt;", "\r\n": "<br>", "\n": "<br>", "\r": "<br>"}
Shown = Callable[[str], str]
"""How a text is made safe for where it goes: a terminal obeys what a file only holds."""


def write_output(table: pa.Table, path: Path, form: str | None = None) -> None:
    """Write rows as a file in one of `FORMATS`, by the file's ending where none is named.

    Raises `UsageError` for another ending or no folder.
    """
    form = form or ENDINGS.get(path.suffix)
    if form is None:
        wanted = "wanted .csv or .parquet, .jsonl, .json or .md, or --format"
        raise UsageError(f"--output {path}: ends in {path.suffix!r}; {wanted}")
    if not path.parent.is_dir():
        raise UsageError(f"--output {path}: there is no folder {path.parent}; make it, or name another place")
    with named(path):
        if path.exists() and not path.is_file():
            _write(table, path, form)  # a device or a pipe
            return
        temporary = path.with_name(TEMPORARY.replace("*", path.name))
        try:
            _write(table, temporary, form)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def _write(table: pa.Table, path: Path, form: str) -> None:
    if form == "parquet":
        with open(path, "wb") as binary:
            pq.write_table(table, binary, compression="zstd")
    else:
        with open(path, "w", encoding="utf-8", newline="") as text:
            write_text(table, text, form, lambda cell: cell)


def write_text(table: pa.Table, stream: IO[str], form: str, shown: Shown) -> None:
    """Write rows in one of `FORMATS` but Parquet."""
    rows = _rows(table)
    names = table.column_names
    if form == "csv":
        stream.writelines(_csv_line(row, shown) for row in _headed(names, rows))
    elif form == "markdown":
        lines = (_markdown_line(row, shown) for row in _headed(names, rows))
        for number, line in enumerate(lines):
            stream.write(line)
            if number == 0:
                stream.write(f"|{' --- |' * len(names)}\n")
    elif form == "jsonl":
        stream.writelines(json.dumps(_record(names, row), default=str) + "\n" for row in rows)
    else:
        stream.write(json.dumps([_record(names, row) for row in rows], indent=1, default=str) + "\n")


def markdown_table(rows: Sequence[dict[str, Any]], shown: Shown) -> str:
    """Rows with the same names as a Markdown table; empty where there is none."""
    if not rows:
        return ""
    head, *lines = [
        _markdown_line(row, shown) for row in _headed(list(rows[0]), iter([[*row.values()] for row in rows]))
    ]
    return "".join([head, f"|{' --- |' * len(rows[0])}\n", *lines])


def _rows(table: pa.Table) -> Iterator[Sequence[Any]]:
    for batch in table.to_batches(_BATCH):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _headed(names: Sequence[str], rows: Iterator[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    yield names
    yield from rows


def _record(names: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    return {name: plain(value) for name, value in zip(names, row, strict=True)}


def plain(value: Any) -> Any:
    """The value as JSON has it: what is not a number is null, decimals are numbers."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [plain(item) for item in value]
    return {name: plain(item) for name, item in value.items()} if isinstance(value, dict) else value


def _text(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return json.dumps(plain(value), default=str) if isinstance(value, list | dict) else str(value)


def _csv_line(row: Sequence[Any], shown: Shown) -> str:
    line = ",".join(_csv_cell(value, shown) for value in row)
    return f"{line}\n" if line else '""\n'  # an empty line is no row


def _csv_cell(value: Any, shown: Shown) -> str:
    text = _text(value)
    if isinstance(value, str):
        if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
            text = f"'{text}"
        text = shown(text)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _markdown_line(row: Sequence[Any], shown: Shown) -> str:
    return f"| {' | '.join(_markdown_cell(value, shown) for value in row)} |\n"


def _markdown_cell(value: Any, shown: Shown) -> str:
    text = _text(value)
    for found, put in _IN_MARKDOWN.items():
        text = text.replace(found, put)
    return shown(text)
