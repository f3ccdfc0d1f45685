"""One run of a stage: what it writes becomes current together, at the end, or nothing does."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from rubrics.records.census import CensusLine
from rubrics.store.chunks import Done, census_rows, check_ended
from rubrics.store.connections import check_keys, told_as_store_error
from rubrics.store.files import write_atomic
from rubrics.store.manifest import Manifest, Part, Version, write_manifest
from rubrics.store.part_files import check_parts
from rubrics.store.parts import PartWriter, Row
from rubrics.store.pending import Pending
from rubrics.store.schema import TABLES
from rubrics.store.views import views_sql

if TYPE_CHECKING:
    from rubrics.store.store import Store

SMALL = 8 << 20
"""Bytes of a part that is put together with others of the same commit."""
FEW = 32
"""Small parts of earlier commits that a table may have before they are put together."""


class StageRun:
    """The tables that one run of a stage writes. Made by `Store.writing`.

    A table that is named here is replaced: it holds what `carry` takes over of it and what this run adds.
    """

    def __init__(self, store: Store, stage: str) -> None:
        self._store = store
        self._root = store.paths.root
        self._stage = stage
        self._before = store.manifest()
        self._carried: dict[str, tuple[Part, ...]] = {}
        self._added: dict[str, list[Part]] = {}
        self._writers: dict[str, PartWriter] = {}
        self._census: list[CensusLine] = []
        self._lock = threading.RLock()  # what makes rows may add others
        self._ended = False
        self._committing = False
        self.files = Pending(store.paths, self._before.commit + 1)
        """Files that are put in place with the tables."""

    def append(self, table: str, rows: Iterable[Row]) -> None:
        """Add rows. Naming a table is enough to replace it."""
        with self._lock:
            self._writer(table).append(rows)

    def append_table(self, table: str, rows: pa.Table) -> None:
        """Add rows that are an Arrow table in the table's own schema."""
        with self._lock:
            self._writer(table).append_table(rows)

    def add(self, done: Done) -> None:
        """Add what a chunk wrote."""
        self._census += done.census
        for table, parts in done.parts.items():
            check_ended(self._ended, table)
            self._added.setdefault(table, []).extend(parts)

    def note(self, line: CensusLine) -> None:
        """Add a line of the census; lines that agree in everything but the count are added up."""
        self._census.append(line)

    def carry(self, table: str, but: str | None = None, **parameters: Any) -> None:
        """Take the table over without the rows that satisfy `but`; parts that hold none of them stay the same files."""
        check_ended(self._ended, table)
        version = self._before.current(table) or Version()
        touched = self._touched(table, but, parameters) if but is not None and version.rows else frozenset()
        self._carried[table] = tuple(part for part in version.listed if part.path not in touched)
        if touched:
            for rows in self._store.arrow_of(table, sorted(touched), f"({but}) IS NOT TRUE", parameters):
                self.append_table(table, rows)

    def carry_parts(self, table: str, parts: Collection[str]) -> None:
        """Take some parts of the table over, and no others."""
        check_ended(self._ended, table)
        version = self._before.current(table) or Version()
        self._carried[table] = tuple(part for part in version.listed if part.path in parts)

    def keep(self, table: str, where: str, **parameters: Any) -> None:
        """Take over the rows that satisfy `where`, and no others."""
        self.carry(table, f"({where}) IS NOT TRUE", **parameters)

    def _touched(self, table: str, where: str, parameters: Mapping[str, Any]) -> frozenset[str]:
        return self._store.parts_with(table, where, parameters)

    def _writer(self, table: str) -> PartWriter:
        check_ended(self._ended, table)
        if table not in self._writers:
            self._writers[table] = PartWriter(self._store.paths, TABLES[table])
        return self._writers[table]

    def commit(self) -> Manifest:
        """Put everything in place; returns the manifest then. Nothing is written when nothing changes."""
        if self._census:
            self.append("census", census_rows(self._census))
        changed = {name: version for name, version in self._versions() if self._differs(name, version)}
        self._ended = True
        manifest = self._put(changed) if changed or self.files else self._before
        if self._stage:
            shutil.rmtree(self._store.paths.work / self._stage, ignore_errors=True)
        with suppress(OSError):
            self._store.paths.work.rmdir()  # when no other stage has begun
        return manifest

    def _put(self, changed: Mapping[str, Version]) -> Manifest:
        manifest = self._before.after(self._stage, changed, self.files.digests)
        self._committing = True
        write_manifest(self._root, manifest)
        self.files.put_in_place()
        write_atomic(self._store.paths.views, views_sql(manifest))
        return manifest

    def _differs(self, table: str, version: Version) -> bool:
        """Whether other parts make the table than before; their order means nothing."""
        before = self._before.current(table)
        return before is None or set(before.listed) != set(version.listed)

    def _versions(self) -> Iterator[tuple[str, Version]]:
        names = dict.fromkeys((*self._carried, *self._added, *self._writers))
        for name in names:
            carried = self._carried.get(name, ())
            added = [*self._added.get(name, ()), *(self._writers[name].finish() if name in self._writers else ())]
            check_parts(self._root, name, [part.path for part in carried])
            small = [part for part in carried if self._size(part) < SMALL]
            if len(small) > FEW and added:
                carried = tuple(part for part in carried if part not in small)
                added = [*small, *added]
            with told_as_store_error(self._root):
                check_keys(name, self._paths(carried), self._paths(added))
            yield name, Version((*carried, *self._together(name, list(dict.fromkeys(added)))))

    def _together(self, table: str, parts: Sequence[Part]) -> Iterator[Part]:
        """Small parts as few."""
        waiting: list[Part] = []
        for part in parts:
            if self._size(part) >= SMALL:
                yield part
                continue
            waiting.append(part)
            if sum(map(self._size, waiting)) >= SMALL:
                yield from self._merged(table, waiting)
                waiting = []
        yield from self._merged(table, waiting)

    def _merged(self, table: str, parts: Sequence[Part]) -> Sequence[Part]:
        if len(parts) < 2:
            return parts
        writer = PartWriter(self._store.paths, TABLES[table])
        for part in parts:
            writer.append_table(pq.read_table(self._root / part.path))
        return writer.finish()

    def _size(self, part: Part) -> int:
        return (self._root / part.path).stat().st_size

    def _paths(self, parts: Iterable[Part]) -> list[Path]:
        return [self._root / part.path for part in parts]

    def discard(self) -> None:
        """Forget the run. What it wrote has no name in the manifest and goes with the next `clean`; finished chunks
        stay for the run that comes again."""
        self._ended = True
        if not self._committing:  # else the next writer sees whether the commit was made
            self.files.discard()
