"""The store: opened for reading by anyone, for writing by one process at a time."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from rubrics import __version__
from rubrics.digests import digest128
from rubrics.errors import StoreError, UsageError
from rubrics.store.chunks import drop_committed
from rubrics.store.commit import StageRun
from rubrics.store.connections import closed_connection, told_as_store_error
from rubrics.store.files import TEMPORARY, locked, write_atomic
from rubrics.store.manifest import Manifest, Version, as_after, history_file, read_manifest, write_manifest
from rubrics.store.part_files import check_parts, version_of
from rubrics.store.paths import StorePaths
from rubrics.store.pending import Pending, settle
from rubrics.store.presence import is_lost
from rubrics.store.schema import TABLES
from rubrics.store.views import named_views, parts_source, table_source, tables_meant, views_sql

_NOTHING = Version()


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
        write_manifest(store.paths.root, Manifest())
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

    def parts_of_this_version(self, table: str) -> list[str]:
        """Parts of a table that were written by this version of the program."""
        parts = (self.manifest().current(table) or _NOTHING).parts
        return [part for part in parts if version_of(self.paths.root / part) == __version__]

    def unmeasured(self, parts: Sequence[str], size: int) -> Iterator[list[dict[str, Any]]]:
        """Ids of rollouts and tasks, at most `size` at a time: those that none of these parts of `facts` is about."""
        known = f"SELECT rollout_id FROM {parts_source([self.paths.root / part for part in parts])}" if parts else ""
        where = f"rollout_id NOT IN ({known})" if parts else "true"
        yield from self.batches("rollouts", ["rollout_id", "task_id"], where, size)

    def parts_with(self, table: str, where: str, parameters: Mapping[str, Any]) -> frozenset[str]:
        """The parts of a table that hold a row which satisfies `where`, as the manifest names them."""
        manifest = self.manifest()
        self._check(manifest, table)
        parts = (manifest.current(table) or _NOTHING).parts
        sources = [
            f"SELECT {number} AS part, count(*) AS n FROM {parts_source([self.paths.root / part])} WHERE {where}"
            for number, part in enumerate(parts)
        ]
        if not sources:
            return frozenset()
        with told_as_store_error(self.paths.root), self._reader() as connection:
            found = connection.execute(" UNION ALL ".join(sources), dict(parameters) or None).fetchall()
        return frozenset(parts[number] for number, rows in found if rows)

    def arrow_of(
        self, table: str, parts: Sequence[str], where: str, parameters: Mapping[str, Any]
    ) -> Iterator[pa.Table]:
        """Rows of some parts that satisfy `where`, as Arrow tables."""
        check_parts(self.paths.root, table, parts)
        with told_as_store_error(self.paths.root), self._reader() as connection:
            for part in parts:
                query = f"SELECT * FROM {parts_source([self.paths.root / part])} WHERE {where}"
                yield connection.sql(query, params=dict(parameters) or None).to_arrow_table()

    @contextmanager
    def writing(self, stage: str = "") -> Iterator[StageRun]:
        """One run of a stage: every table it writes becomes current together, at the end, or none does.

        Raises `StoreError` when another process is writing, when rows break a table's key or leave a column's range.
        """
        with locked(self.paths.lock):
            self._sweep()
            run = StageRun(self, stage)
            try:
                yield run
                run.commit()
            except BaseException:
                run.discard()
                raise

    def settle(self) -> None:
        """Finish what a killed process left half done, as every writer does when it begins.

        Raises `StoreError` when another process is writing.
        """
        with locked(self.paths.lock):
            self._sweep()

    def _sweep(self) -> int:
        """Finish what a killed process left half done; returns how many half-written files went. The lock is held:
        nobody else writes."""
        manifest = self.manifest()
        settle(self.paths, manifest.commit)
        drop_committed(self.paths.root, manifest.stage, manifest.commit)
        half = [
            *self.paths.tables.rglob(TEMPORARY), *self.paths.history.glob(TEMPORARY),
            *self.paths.root.glob(f"files/{TEMPORARY}"), *self.paths.root.glob(".manifest.json.*.tmp"),
            *self.paths.root.glob(".views.sql.*.tmp"),
        ]  # fmt: skip
        for file in half:
            file.unlink(missing_ok=True)
        return len(half)

    def restore(self, past: Manifest) -> Manifest:
        """Make the tables what they were at a past commit, by a commit of its own; returns the manifest then.

        Raises `StoreError` when a part of then is not there any more, or is damaged.
        """
        with locked(self.paths.lock):
            self._sweep()
            now = self.manifest()
            for name, version in past.tables.items():
                check_parts(self.paths.root, name, version.parts)
            files = Pending(self.paths, now.commit + 1)
            for name, digest in past.files.items():
                files.write(self.paths.root / name, self._text(digest))
            for name in now.files.keys() - past.files.keys():
                files.remove(self.paths.root / name)
            manifest = as_after(past, now, f"restore {past.commit}")
            write_manifest(self.paths.root, manifest)
            files.put_in_place()
            write_atomic(self.paths.views, views_sql(manifest))
            return manifest

    def _text(self, digest: str) -> str:
        """A text that was written with a commit. Raises `StoreError` when it is not what was written."""
        file = self.paths.file(digest)
        try:
            text = file.read_bytes().decode("utf-8")  # line ends as they are
        except (OSError, UnicodeDecodeError):
            text = ""
        if digest128([text]) != digest:
            raise StoreError(f"{file}: is not there, or damaged; put it back from a copy, or restore another commit")
        return text

    def clean(self) -> int:
        """Delete the history, finished chunks of stages that did not end, and parts that the manifest does not name;
        returns how many files went."""
        with locked(self.paths.lock):
            half = self._sweep()
            manifest = self.manifest()
            write_atomic(self.paths.views, views_sql(manifest))
            kept = {self.paths.root / part for part in manifest.parts()}
            doomed = [file for file in self.paths.tables.rglob("*") if file.is_file() and file not in kept]
            doomed += [file for file in self.paths.work.rglob("*") if file.is_file()]
            texts = set(manifest.files.values())
            doomed += [file for file in self.paths.root.glob("files/*") if file.name not in texts]
            latest = history_file(self.paths.root, manifest.commit)
            doomed += [file for file in self.paths.history.glob("*") if file != latest]
            doomed += self.paths.root.glob(TEMPORARY)
            for file in doomed:
                file.unlink()
            shutil.rmtree(self.paths.work, ignore_errors=True)
            return half + len(doomed)


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
    return all(item.name in (".lock", "history") or item.match(TEMPORARY) for item in root.iterdir())
