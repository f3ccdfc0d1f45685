"""The store: opened for reading by anyone, for writing by one process at a time."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from rubrics.errors import StoreError, UsageError
from rubrics.store.connections import check_unique, closed_connection, told_as_store_error
from rubrics.store.files import TEMPORARY, locked, write_atomic
from rubrics.store.manifest import Manifest, Version, is_lost, read_manifest, write_manifest
from rubrics.store.part_files import check_parts
from rubrics.store.parts import PartWriter, Row
from rubrics.store.paths import StorePaths
from rubrics.store.schema import TABLES
from rubrics.store.views import named_views, table_source, tables_meant, views_sql

_NOTHING = Version("", (), 0)


class Store:
    """A folder of Parquet parts with a manifest. Holds no connection and no open file."""

    def __init__(self, root: Path) -> None:
        self.paths = StorePaths(root.resolve())
        self._instance: duckdb.DuckDBPyConnection | None = None
        self._lock = threading.Lock()

    @classmethod
    def create(cls, root: Path) -> Store:
        """Open a store, making an empty one when nothing is there.

        Raises `StoreError` when the folder holds something else than a store.
        """
        store = cls(root)
        if store.paths.manifest.exists() or is_lost(store.paths.root):
            store.manifest()
            return store
        if store.paths.root.exists() and not store.paths.root.is_dir():
            raise StoreError(f"{root}: no folder; name another one with --store")
        if store.paths.root.exists() and not _is_new(store.paths.root):
            raise StoreError(f"{root}: not empty and not a store; name another folder with --store")
        store.paths.root.mkdir(parents=True, exist_ok=True)
        write_manifest(store.paths.manifest, Manifest())
        return store

    @classmethod
    def open(cls, root: Path) -> Store:
        """Open an existing store. Raises `StoreError` when there is none."""
        store = cls(root)
        store.manifest()
        return store

    def manifest(self) -> Manifest:
        return read_manifest(self.paths.manifest)

    def count(self, table: str) -> int:
        version = self.manifest().current(table)
        return version.rows if version else 0

    def connect(self, sql: str) -> duckdb.DuckDBPyConnection:
        """A connection with the views that `sql` may mean, that can open the parts behind views and no other file:
        `sealed` has none. Raises `StoreError` when a part that it may read is missing or damaged."""
        manifest = self.manifest()
        for name in tables_meant(sql):
            self._check(manifest, name)
        names = [name for name, table in TABLES.items() if table.has_view]
        parts = [part for name in names for part in (manifest.current(name) or _NOTHING).parts]
        with told_as_store_error(self.paths.root):
            connection = closed_connection("allowed_paths", [self.paths.root / part for part in parts])
            try:
                connection.execute(named_views(sql, manifest, self.paths.root))
            except BaseException:
                connection.close()
                raise
        return connection

    def query(self, sql: str, parameters: dict[str, Any] | None = None) -> pa.Table:
        """Result of one SELECT over the views: nothing that it says can write to the store. Columns of the same name
        are told apart by a number.

        Raises `UsageError` with DuckDB's own words when it fails.
        """
        with self.connect(sql) as connection:
            try:
                kinds = [statement.type.name for statement in connection.extract_statements(sql)]
                if kinds != ["SELECT"]:
                    raise UsageError(f"query holds {', '.join(kinds) or 'nothing'}; wanted one SELECT (or FROM ...)")
                found = connection.sql(sql, params=parameters).to_arrow_table()
                return found.rename_columns(distinct(found.column_names))
            except duckdb.Error as error:
                raise UsageError(f"query failed: {error}") from None

    def rows(
        self, table: str, columns: Sequence[str] = (), where: str = "true", **parameters: Any
    ) -> list[dict[str, Any]]:
        """Rows of one table as dictionaries, in the table's order. `where` may name `$parameters`."""
        return [row for batch in self.batches(table, columns, where, **parameters) for row in batch]

    def batches(
        self, table: str, columns: Sequence[str] = (), where: str = "true", size: int = 1000, **parameters: Any
    ) -> Iterator[list[dict[str, Any]]]:
        """The same in lists of at most `size` rows, read as they are asked for."""
        spec = TABLES[table]
        listed = ", ".join(f'"{name}"' for name in columns) or "*"
        order = ", ".join(f'"{name}"' for name in spec.order)
        manifest = self.manifest()
        self._check(manifest, table)
        if not (manifest.current(table) or _NOTHING).rows:
            return
        query = f"SELECT {listed} FROM {table_source(spec, manifest, self.paths.root)} WHERE {where} ORDER BY {order}"
        with told_as_store_error(self.paths.root), self._reader() as connection:
            for batch in connection.sql(query, params=parameters or None).to_arrow_reader(size):
                yield batch.to_pylist()

    def _check(self, manifest: Manifest, table: str) -> None:
        """Raises `StoreError` when a part of the table is not what was written."""
        with self._lock:  # many threads read a table at once; its bytes are looked at once
            check_parts(self.paths.root, table, (manifest.current(table) or _NOTHING).parts)

    def _reader(self) -> duckdb.DuckDBPyConnection:
        """A connection for our own reading, to an instance that is made once: making one takes 20 ms. It opens any part
        and nothing else."""
        with self._lock:
            if self._instance is None:
                self._instance = closed_connection("allowed_directories", [self.paths.tables])
            return self._instance.cursor()

    @contextmanager
    def writing(self, stage: str = "") -> Iterator[StageRun]:
        """One run of a stage: every table it writes becomes current together, at the end, or none does.

        Raises `StoreError` when another process is writing, when rows break a table's key or leave a column's range.
        """
        with locked(self.paths.lock):
            run = StageRun(self, stage)
            try:
                yield run
                run.commit()
            except BaseException:
                run.discard()
                raise

    def clean(self) -> int:
        """Delete older versions and parts that no version names; returns how many files went."""
        with locked(self.paths.lock):
            manifest = self.manifest().only_current()
            write_manifest(self.paths.manifest, manifest)
            write_atomic(self.paths.views, views_sql(manifest))
            kept = {self.paths.root / part for part in manifest.parts()}
            doomed = [file for file in self.paths.tables.rglob("*") if file.is_file() and file not in kept]
            doomed += self.paths.root.glob(TEMPORARY)
            for file in doomed:
                file.unlink()
            return len(doomed)


class StageRun:
    """The tables one stage run writes. Made by `Store.writing`; chunks in several threads may add to it."""

    def __init__(self, store: Store, stage: str) -> None:
        self._store = store
        self._stage = stage
        self._commit = store.manifest().commits + 1
        self._writers: dict[str, PartWriter] = {}
        self._lock = threading.Lock()
        self._ended = False
        self.run_id = uuid.uuid4().hex[:16]

    def append(self, table: str, rows: Iterable[Row]) -> None:
        """Add rows. A table named here is replaced as a whole by what this run wrote, also when that is nothing."""
        with self._lock:
            self._writer(table).append(rows)

    def append_table(self, table: str, rows: pa.Table) -> None:
        """Add rows that are an Arrow table in the table's own schema."""
        with self._lock:
            self._writer(table).append_table(rows)

    def carry(self, table: str) -> None:
        """Take the current parts over as they are; what this run adds comes beside them."""
        current = self._store.manifest().current(table)
        with self._lock:
            self._writer(table).carry(current)

    def keep(self, table: str, where: str, **parameters: Any) -> None:
        """Carry the current rows that satisfy `where` over into this run's version."""
        for batch in self._store.batches(table, where=where, **parameters):
            self.append(table, batch)

    def _writer(self, table: str) -> PartWriter:
        if self._ended:
            raise StoreError(f"table {table}: rows come after their stage run has ended; run the stage again")
        if table not in self._writers:
            self._writers[table] = PartWriter(self._store.paths, TABLES[table], self.run_id, self._stage, self._commit)
        return self._writers[table]

    def commit(self) -> None:
        root = self._store.paths.root
        manifest = self._store.manifest()
        changed = {name: writer for name, writer in self._writers.items() if not writer.changes_nothing}
        versions = {}
        for name, writer in changed.items():
            writer.finish(sorted(changed))
            check_parts(root, name, writer.carried)
            parts = (*writer.carried, *(str(part.relative_to(root)) for part in writer.parts))
            versions[name] = Version(self.run_id, parts, writer.rows)
        with told_as_store_error(root):
            check_unique({name: [root / part for part in version.parts] for name, version in versions.items()})
        manifest = manifest.with_versions(versions)
        write_manifest(self._store.paths.manifest, manifest)
        write_atomic(self._store.paths.views, views_sql(manifest))
        self._ended = True

    def discard(self) -> None:
        """Delete what this run wrote, except what the manifest names: then only `views.sql` could not be written."""
        with self._lock:
            self._ended = True
            named = {self._store.paths.root / part for part in self._store.manifest().parts()}
            for writer in self._writers.values():
                writer.discard(named)


def distinct(names: Sequence[str]) -> list[str]:
    """The names, a number behind those that stand before already."""
    found: dict[str, None] = {}
    for name in names:
        number = 1
        while (wanted := name if number == 1 else f"{name}_{number}") in found:
            number += 1
        found[wanted] = None
    return list(found)


def _is_new(root: Path) -> bool:
    """A folder without anything but what a store leaves that was killed while it was made."""
    return all(item.name == ".lock" or item.match(TEMPORARY) for item in root.iterdir())
