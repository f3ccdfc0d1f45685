"""Writes the rows of one table as Parquet parts, bounded in memory."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rubrics import __version__
from rubrics.errors import StoreError
from rubrics.store.manifest import Version, sync_folder
from rubrics.store.paths import StorePaths
from rubrics.store.schema import FORMAT_MAJOR, Table

Row = Mapping[str, Any]

PART_ROWS = 100_000
PART_BYTES = 64 << 20


class PartWriter:
    """Collects rows and writes a sorted part whenever enough have come. Not for several threads."""

    def __init__(self, paths: StorePaths, table: Table, run_id: str) -> None:
        self._paths = paths
        self._table = table
        self._run_id = run_id
        self._rows: list[Row] = []
        self._bytes = 0
        self._tables: list[pa.Table] = []
        self.parts: list[Path] = []
        self.carried: tuple[str, ...] = ()
        self.rows = 0

    def append(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self._rows.append(row)
            self._bytes += sum(len(value) for value in row.values() if isinstance(value, str))
            if len(self._rows) >= PART_ROWS or self._bytes >= PART_BYTES:
                self._flush()

    def append_table(self, table: pa.Table) -> None:
        """Rows that are an Arrow table already, in the table's own schema."""
        self._tables.append(table.select(self._table.columns.names).cast(self._table.columns))
        if sum(waiting.num_rows for waiting in self._tables) >= PART_ROWS:
            self._flush()

    def carry(self, version: Version | None) -> None:
        """Count the parts of another version in, without copying them."""
        if version is not None:
            self.carried = version.parts
            self.rows += version.rows

    def finish(self) -> None:
        self._flush()

    def discard(self, kept: Collection[Path] = ()) -> None:
        for part in self.parts:
            if part not in kept:
                part.unlink(missing_ok=True)

    def _flush(self) -> None:
        rows, self._rows, self._bytes = self._rows, [], 0
        tables, self._tables = self._tables, []
        if rows:
            tables.append(self._to_arrow(rows))
        if tables:
            self._write(pa.concat_tables(tables))

    def _to_arrow(self, rows: list[Row]) -> pa.Table:
        names = set(self._table.columns.names)
        for row in (rows[0], rows[-1]):
            if row.keys() - names:
                raise StoreError(
                    f"table {self._table.name}: no column {sorted(row.keys() - names)}; see store/schema.py"
                )
        try:
            return pa.Table.from_pylist([dict(row) for row in rows], schema=self._table.columns)
        except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError, OverflowError) as error:
            raise StoreError(f"table {self._table.name}: a row does not fit its schema: {error}") from error

    def _write(self, table: pa.Table) -> None:
        if table.num_rows == 0:
            return
        table = table.sort_by([(name, "ascending") for name in self._table.order])
        metadata = {
            "rubrics.format": str(FORMAT_MAJOR),
            "rubrics.version": __version__,
            "rubrics.table": self._table.name,
        }
        table = table.replace_schema_metadata(metadata)
        part = self._paths.part(self._table.name, self._run_id, len(self.parts))
        part.parent.mkdir(parents=True, exist_ok=True)
        temporary = part.with_name(f".{part.name}.tmp")
        try:
            with open(temporary, "wb") as handle:
                pq.write_table(
                    table, handle, compression="zstd", compression_level=3, row_group_size=self._table.row_group
                )
                handle.flush()
                os.fsync(handle.fileno())
            os.replace(temporary, part)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(part.parent)
        self.parts.append(part)
        self.rows += table.num_rows
