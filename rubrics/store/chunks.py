"""What a chunk of a stage wrote: parts of tables, and a record by which a later run takes the chunk as done.

`work/<stage>/<key>.json` stands when every part that it names is safe on the disk. The key says what was done to what
(see `rubrics.stages.jobs`), so whoever finds a record under the same key need not do the chunk again.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from rubrics.digests import digest128
from rubrics.errors import StoreError
from rubrics.records.census import CensusLine
from rubrics.store.files import write_atomic
from rubrics.store.manifest import Part
from rubrics.store.part_files import PART, fault_of
from rubrics.store.parts import PartWriter, Row
from rubrics.store.paths import StorePaths
from rubrics.store.schema import TABLES


@dataclass(frozen=True, slots=True)
class Done:
    """A finished chunk."""

    rollouts: int
    """How many rollouts, or of what the stage counts, were done."""
    parts: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)
    """By table. A table without rows is there too."""
    census: tuple[CensusLine, ...] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)
    """Values (of JSON) that the stage needs of all its chunks at the end."""


class Output:
    """Where a chunk puts its rows and what it has to say. Several threads may add to it."""

    def __init__(self, root: Path) -> None:
        self._paths = StorePaths(root)
        self._writers: dict[str, PartWriter] = {}
        self._census: list[CensusLine] = []
        self._kept: dict[str, Any] = {}
        self._lock = threading.Lock()

    def append(self, table: str, rows: Iterable[Row]) -> None:
        """Add rows. Raises `StoreError` when one does not fit the table's schema."""
        made = list(rows)  # what makes them may take long, and may add to this output itself
        with self._lock:
            self._writer(table).append(made)

    def append_table(self, table: str, rows: pa.Table) -> None:
        """Add rows that are an Arrow table in the table's own schema."""
        with self._lock:
            self._writer(table).append_table(rows)

    def note(self, line: CensusLine) -> None:
        """Add a line of the census."""
        with self._lock:
            self._census.append(line)

    def keep(self, name: str, value: Any) -> None:
        """Hand a value (of JSON) to the stage's end."""
        with self._lock:
            self._kept[name] = value

    def finish(self, rollouts: int) -> Done:
        """Write what is left."""
        parts = {name: writer.finish() for name, writer in self._writers.items()}
        return Done(rollouts, parts, tuple(self._census), self._kept)

    def _writer(self, table: str) -> PartWriter:
        if table not in self._writers:
            self._writers[table] = PartWriter(self._paths, TABLES[table])
        return self._writers[table]


def record_file(root: Path, stage: str, key: str) -> Path:
    return StorePaths(root).work / stage / f"{key}.json"


def write_record(root: Path, stage: str, key: str, done: Done, commit: int) -> None:
    """Say that a chunk is finished. `commit`: the one that it read."""
    content = {
        "commit": commit,
        "rollouts": done.rollouts,
        "parts": {table: [[part.path, part.rows] for part in parts] for table, parts in done.parts.items()},
        "census": [asdict(line) for line in done.census],
        "kept": done.kept,
    }
    write_atomic(record_file(root, stage, key), json.dumps({**content, "digest": _digest(content)}))


def read_record(root: Path, stage: str, key: str) -> Done | None:
    """The finished chunk under a key; null where there is none, or where it is not what was written or lacks a part."""
    try:
        content = json.loads(record_file(root, stage, key).read_text("utf-8"))
        if content.pop("digest") != _digest(content):
            return None
        parts = {
            table: tuple(Part(str(path), int(rows)) for path, rows in listed)
            for table, listed in content["parts"].items()
        }
        census = tuple(CensusLine(**line) for line in content["census"])
        done = Done(int(content["rollouts"]), parts, census, dict(content["kept"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return done if all(_is_whole(root, table, part) for table, found in parts.items() for part in found) else None


def drop_committed(root: Path, stage: str, commit: int) -> None:
    """Forget the finished chunks that a commit of their stage took over: they read an earlier one. A process that ended
    right after its commit leaves them."""
    for file in StorePaths(root).work.glob("*/*.json"):
        if file.parent.name == stage and not file.parent.is_symlink() and _commit_of(file) < commit:
            file.unlink()
            with suppress(OSError):  # others are there
                file.parent.rmdir()
                file.parent.parent.rmdir()


def _commit_of(record: Path) -> int:
    """The commit that a finished chunk read; one before all where the record does not say."""
    try:
        return int(json.loads(record.read_text("utf-8"))["commit"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return -1


def _digest(content: dict[str, Any]) -> str:
    """Over everything that a record says, but the digest itself."""
    return digest128([json.dumps(content, sort_keys=True)])


def _is_whole(root: Path, table: str, part: Part) -> bool:
    match = PART.fullmatch(part.path)
    return match is not None and match["table"] == table and table in TABLES and fault_of(root, part.path) is None


def census_rows(lines: Iterable[CensusLine]) -> Iterator[dict[str, Any]]:
    """Rows of the census table; lines that agree in everything but the count are added up."""
    totals: dict[tuple[str, ...], int] = {}
    for line in lines:
        key = (line.stage, line.subject, line.kind, line.place, line.detail)
        totals[key] = totals.get(key, 0) + line.count
    for (stage, subject, kind, place, detail), count in totals.items():
        yield {"stage": stage, "subject": subject, "kind": kind, "place": place, "detail": detail, "count": count}


def check_ended(ended: bool, table: str) -> None:
    """Raises `StoreError` for rows that come too late."""
    if ended:
        raise StoreError(f"table {table}: rows come after their stage run has ended; run the stage again")
