"""Rows of an export as Parquet or JSON lines, written as they come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from rubrics import jsonio
from rubrics.errors import StoreError
from rubrics.store.schema import TABLES

Kind: TypeAlias = "str | Mapping[str, Kind]"
Columns: TypeAlias = Mapping[str, Kind]
"""Column -> `text`, `int`, `float`, `bool`, `texts`, `prompt`, `messages`, or the columns of a struct."""

_ROW_GROUP = 512
_TEXT = pa.string()
_PROMPT = pa.struct([("role", _TEXT), ("content", _TEXT)])
_CALL = pa.struct([("id", _TEXT), ("type", _TEXT), ("function", pa.struct([("name", _TEXT), ("arguments", _TEXT)]))])
_MESSAGE = pa.struct(
    [
        ("role", _TEXT),
        ("content", _TEXT),
        ("reasoning_content", _TEXT),
        ("tool_calls", pa.list_(_CALL)),
        ("tool_call_id", _TEXT),
    ]
)
_KINDS = {
    "text": _TEXT,
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "texts": pa.list_(_TEXT),
    "prompt": pa.list_(_PROMPT),
    "message": _MESSAGE,
    "messages": pa.list_(_MESSAGE),
}


class RowWriter(Protocol):
    def append(self, rows: Iterable[Mapping[str, Any]]) -> None: ...

    def __enter__(self) -> RowWriter: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class ParquetRows:
    """A Parquet file with the given columns; `notes` go into its metadata. A row group a batch."""

    def __init__(self, path: Path, columns: Columns, notes: Mapping[str, str]) -> None:
        fields = [pa.field(name, _type(kind)) for name, kind in columns.items()]
        self._schema = pa.schema(fields, metadata={f"rubrics.{key}": value for key, value in notes.items()})
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd", compression_level=3)
        self._waiting: list[Mapping[str, Any]] = []

    def append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self._waiting += rows
        if len(self._waiting) >= _ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        try:
            table = pa.Table.from_pylist([dict(row) for row in self._waiting], schema=self._schema)
        except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError) as error:
            raise StoreError(f"a row does not fit the export's columns: {error}") from error
        self._waiting = []
        self._writer.write_table(table)

    def __enter__(self) -> ParquetRows:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and self._waiting:
            self._flush()
        self._writer.close()


class JsonRows:
    """A file of one JSON object a line."""

    def __init__(self, path: Path) -> None:
        self._handle = open(path, "w", encoding="utf-8", newline="\n")  # noqa: SIM115 closed by __exit__

    def append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self._handle.writelines(f"{jsonio.dumps(dict(row))}\n" for row in rows)

    def __enter__(self) -> JsonRows:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._handle.close()


def _type(kind: Kind) -> pa.DataType:
    if isinstance(kind, str):
        return _KINDS[kind]
    return pa.struct([(name, _type(inner)) for name, inner in kind.items()])


_NAMES = {pa.string(): "text", pa.int64(): "int", pa.float64(): "float", pa.bool_(): "bool", pa.list_(_TEXT): "texts"}


def table_columns(table: str) -> Columns:
    """The columns of a table of the store."""
    return {field.name: _NAMES[field.type] for field in TABLES[table].columns}
