"""Writes the rows of one table as Parquet parts, bounded in memory."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from rubrics.errors import StoreError
from rubrics.store.columns import Table
from rubrics.store.files import named, sync_folder
from rubrics.store.manifest import Version
from rubrics.store.part_files import Closing, closing_metadata, digest_of, metadata
from rubrics.store.paths import StorePaths

Row = Mapping[str, Any]

PART_ROWS = 100_000
PART_BYTES = 64 << 20


class PartWriter:
    """Collects rows and writes a sorted part whenever enough have come. Not for several threads.

    A part stays open until the next one begins or the version ends: only then it is known whether it is the last.
    """

    def __init__(self, paths: StorePaths, table: Table, run_id: str, stage: str = "", commit: int = 0) -> None:
        self._paths = paths
        self._table = table
        self._run_id = run_id
        self._metadata = metadata(table.name, stage, commit)
        self._rows: list[Row] = []
        self._bytes = 0
        self._tables: list[pa.Table] = []
        self._open: _OpenPart | None = None
        self._carries: Version | None = None
        self.parts: list[Path] = []
        self.rows = 0

    @property
    def carried(self) -> tuple[str, ...]:
        """Parts of other runs that are part of this version."""
        return self._carries.parts if self._carries and self._carries.rows else ()

    @property
    def changes_nothing(self) -> bool:
        """The version would be the one that is carried over."""
        return self._carries is not None and not (self._rows or self._tables or self._open or self.parts)

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
            self._carries = version
            self.rows += version.rows

    def finish(self, tables: Sequence[str] = ()) -> None:
        """Write what is left. The last part tells what makes the version, and the `tables` that are committed together;
        a version without rows has a part without rows."""
        self._flush()
        if self._open is None:
            self._begin(self._table.columns.empty_table())
        self._end(closing_metadata(Closing(len(self.parts) + 1, self.carried, tuple(tables))))

    def discard(self, kept: Collection[Path] = ()) -> None:
        if self._open is not None:
            self._open.discard()
        for part in self.parts:
            if part not in kept:
                part.unlink(missing_ok=True)

    def _flush(self) -> None:
        rows, self._rows, self._bytes = self._rows, [], 0
        tables, self._tables = self._tables, []
        if rows:
            tables.append(self._to_arrow(rows))
        if sum(table.num_rows for table in tables):
            self._end({})
            self._begin(self._checked(pa.concat_tables(tables)))

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

    def _begin(self, table: pa.Table) -> None:
        folder = self._paths.tables / self._table.name
        folder.mkdir(parents=True, exist_ok=True)
        self._open = _OpenPart(folder / f".{self._run_id}-{len(self.parts):05d}.tmp", table.schema, self._metadata)
        self._open.write(table, self._table.row_group)
        self.rows += table.num_rows

    def _end(self, more: Mapping[str, str]) -> None:
        if self._open is not None:
            digest = self._open.close(more)
            part = self._paths.part(self._table.name, self._run_id, len(self.parts), digest)
            os.replace(self._open.path, part)
            self._open = None
            sync_folder(part.parent)
            self.parts.append(part)


class _OpenPart:
    """A part under a temporary name."""

    def __init__(self, path: Path, schema: pa.Schema, said: Mapping[str, str]) -> None:
        self.path = path
        with named(path.parent):
            self._handle: IO[bytes] = open(path, "wb")  # noqa: SIM115  (closed by close or discard)
            self._writer = pq.ParquetWriter(
                self._handle, schema.with_metadata(dict(said)), compression="zstd", compression_level=3
            )

    def write(self, table: pa.Table, row_group: int) -> None:
        with named(self.path.parent):
            self._writer.write_table(table.replace_schema_metadata(self._writer.schema.metadata), row_group)

    def close(self, more: Mapping[str, str]) -> str:
        """Make it whole and safe on the disk; returns the digest of its bytes."""
        with named(self.path.parent):
            if more:
                self._writer.add_key_value_metadata(dict(more))
            self._writer.close()
            self._handle.flush()
            os.fsync(self._handle.fileno())
            self._handle.close()
            return digest_of(self.path)

    def discard(self) -> None:
        """Take it away; what cannot be written any more is not written."""
        self.path.unlink(missing_ok=True)
        try:
            self._writer.close()
            self._handle.close()
        except OSError:
            pass
