"""Writes the rows of one table as Parquet parts, bounded in memory."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from rubrics.errors import StoreError
from rubrics.store.columns import Table
from rubrics.store.files import named, sync_folder
from rubrics.store.manifest import Part
from rubrics.store.part_files import digest_of, metadata
from rubrics.store.paths import StorePaths

Row = Mapping[str, Any]

PART_ROWS = 100_000
PART_BYTES = 64 << 20


class PartWriter:
    """Collects rows and writes a sorted part whenever enough have come. Not for several threads."""

    def __init__(self, paths: StorePaths, table: Table) -> None:
        self._paths = paths
        self._table = table
        self._rows: list[Row] = []
        self._bytes = 0
        self._tables: list[pa.Table] = []
        self.parts: list[Part] = []

    def append(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self._rows.append(row)
            self._bytes += sum(len(value) for value in row.values() if isinstance(value, str))
            if len(self._rows) >= PART_ROWS or self._bytes >= PART_BYTES:
                self._flush()

    def append_table(self, table: pa.Table) -> None:
        """Rows that are an Arrow table already, in the table's own schema."""
        self._tables.append(table.select(self._table.columns.names).cast(self._table.columns))
        self._bytes += table.nbytes
        if sum(waiting.num_rows for waiting in self._tables) >= PART_ROWS or self._bytes >= PART_BYTES:
            self._flush()

    def finish(self) -> tuple[Part, ...]:
        """Write what is left; returns all parts. No rows make no part."""
        self._flush()
        return tuple(self.parts)

    def _flush(self) -> None:
        tables, self._tables, self._bytes = self._tables, [], 0
        if self._rows:
            tables.append(self._to_arrow(self._rows))
            self._rows = []  # before the table is sorted: the texts are the larger half
        if sum(table.num_rows for table in tables):
            self._write(self._checked(pa.concat_tables(tables)))

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

    def _checked(self, table: pa.Table) -> pa.Table:
        wrong = self._table.first_outside(table)
        if wrong is not None:
            raise StoreError(f"table {self._table.name}: {wrong}; nothing was written: mend what made that value")
        return table.sort_by([(name, "ascending") for name in self._table.whole_order])

    def _write(self, table: pa.Table) -> None:
        folder = self._paths.tables / self._table.name
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".{uuid.uuid4().hex}.tmp"
        try:
            with named(folder), open(temporary, "wb") as handle:
                self._fill(handle, table)
            part = self._paths.part(self._table.name, digest_of(temporary))
            os.replace(temporary, part)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(folder)
        self.parts.append(Part(_relative(part, self._paths.root), table.num_rows))

    def _fill(self, handle: IO[bytes], table: pa.Table) -> None:
        table = table.replace_schema_metadata(metadata(self._table.name))
        pq.write_table(table, handle, self._table.row_group, compression="zstd", compression_level=3)
        handle.flush()
        os.fsync(handle.fileno())


def _relative(part: Path, root: Path) -> str:
    return part.relative_to(root).as_posix()
