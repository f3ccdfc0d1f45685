"""The versions of tables that parts speak of, where no manifest says which make a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rubrics.errors import StoreError
from rubrics.store.manifest import AGAIN, OtherFormatError, Version
from rubrics.store.part_files import PART, Closing, Label, fault_of, label_of
from rubrics.store.schema import FORMAT_MAJOR, TABLES


@dataclass(frozen=True, slots=True)
class Left:
    """A version of a table that was found."""

    table: str
    version: Version
    stage: str = ""
    commit: int = 0
    """0: written before parts said so."""
    tables: tuple[str, ...] = ()
    """The tables that were committed with it."""
    lacks: str = ""
    """Why it cannot be whole, whatever its parts are."""

    def said(self) -> str:
        return f"{self.stage or 'stage unknown'}, commit {self.commit or 'unknown'}, run {self.version.run_id}"


@dataclass(frozen=True, slots=True)
class _File:
    part: str
    table: str
    run: str
    number: int
    label: Label | None


def left_versions(root: Path, take: Collection[str] = ()) -> tuple[list[Left], list[Left]]:
    """Every committed version that the parts in a folder speak of, oldest first; and those that do not count.

    A run that was killed before its commit does not count: one counts when each table that it wrote has its last part,
    or when a later one that counts so shows that there had been a commit (its other tables were cleaned away since).
    Parts of earlier programs say nothing of this: where a table has only such, each run is taken for a version.
    `take`: runs that count where two are the same commit. Raises `StoreError` where two are and none is in `take`.
    """
    files = list(_files(root))
    rows = {file.part: file.label.rows for file in files if file.label}
    runs: dict[str, list[_File]] = defaultdict(list)
    for file in files:
        runs[file.run].append(file)
    found = [item for run in runs.values() for item in _of_run(run, rows)]
    known = {item.table for item in found}
    counted = _committed(found)
    older = [item for item in _unlabelled(files, rows) if item.table not in known]
    return _ordered(root, counted + older, set(take)), [item for item in found if item not in counted]


def _files(root: Path) -> Iterable[_File]:
    for path in sorted(root.glob("tables/*/*.parquet")):
        part = path.relative_to(root).as_posix()
        match = PART.fullmatch(part)
        if match and match["table"] in TABLES:
            label = label_of(path) if path.is_file() else None
            if label is not None and label.format != FORMAT_MAJOR:
                raise OtherFormatError(
                    f"{path}: format {label.format}, this program reads format {FORMAT_MAJOR}; use the version that "
                    f"wrote it or make the store again: {AGAIN}"
                )
            if label is None or label.table == match["table"]:
                yield _File(part, match["table"], match["run"], int(match["number"]), label)


def _of_run(files: list[_File], rows: dict[str, int]) -> Iterable[Left]:
    """The versions that one run closed; of a table whose last part cannot be read any more, that it lacks it."""
    closings = {file.table: file.label for file in files if file.label and file.label.closing}
    for label in closings.values():
        assert label.closing is not None
        yield _version([file for file in files if file.table == label.table], label, label.closing, rows)
    some = next(iter(closings.values()), None)
    for file in files:
        if some and some.closing and file.label is None and file.table not in closings:
            lacks = f"its part {file.part} cannot be read"
            version = Version(file.run, (file.part,), 0)
            yield Left(file.table, version, some.stage, some.commit, some.closing.tables, lacks)


def _version(files: list[_File], label: Label, closing: Closing, rows: dict[str, int]) -> Left:
    own = {file.number: file.part for file in files}
    missing = [number for number in range(closing.parts) if number not in own]
    parts = (*closing.carried, *(own[number] for number in range(closing.parts) if number in own))
    version = Version(files[0].run, parts, sum(rows.get(part, 0) for part in parts))
    lacks = f"its part number {missing[0]} of {closing.parts} is not there" if missing else ""
    return Left(label.table, version, label.stage, label.commit, closing.tables, lacks)


def _committed(found: list[Left]) -> list[Left]:
    tables: dict[str, set[str]] = defaultdict(set)
    for item in found:
        tables[item.version.run_id].add(item.table)
    whole = [item for item in found if tables[item.version.run_id] >= set(item.tables)]
    commits = {item.commit for item in whole}
    last = max(commits, default=0)
    return whole + [item for item in found if item not in whole and item.commit < last and item.commit not in commits]


def _unlabelled(files: list[_File], rows: dict[str, int]) -> Iterable[Left]:
    groups: dict[tuple[str, str], list[_File]] = defaultdict(list)
    for file in files:
        if file.label and not file.label.commit:
            groups[file.table, file.run].append(file)
    for (table, run), group in groups.items():
        parts = tuple(file.part for file in sorted(group, key=lambda file: file.number))
        gap = [file.number for file in group if file.number >= len(group)]
        lacks = "one of its parts is not there" if gap else ""
        yield Left(table, Version(run, parts, sum(rows[part] for part in parts)), lacks=lacks)


def _ordered(root: Path, found: list[Left], take: set[str]) -> list[Left]:
    """Oldest first. Raises `StoreError` where two versions of a table are of the same commit."""
    by_place: dict[tuple[str, int], list[Left]] = defaultdict(list)
    for item in found:
        by_place[item.table, item.commit].append(item)
    kept = []
    for (table, commit), items in sorted(by_place.items(), key=lambda entry: entry[0][1]):
        chosen = [item for item in items if item.version.run_id in take] if len(items) > 1 else items
        if len(chosen) != 1:
            listed = "; ".join(f"{item.said()}, {item.version.rows} rows, {_when(root, item)}" for item in items)
            raise StoreError(
                f"{root}: table {table}: the parts do not say which of {len(items)} versions "
                f"{'is the newest' if not commit else f'commit {commit} is'}: {listed}; name the right run with --take"
            )
        kept += chosen
    return kept


def _when(root: Path, item: Left) -> str:
    times = [(root / part).stat().st_mtime for part in item.version.parts if (root / part).exists()]
    return f"written {datetime.fromtimestamp(max(times)):%Y-%m-%d %H:%M:%S}" if times else "not there"


def fault_of_version(root: Path, item: Left) -> str | None:
    """Why a version is not whole; null when it is."""
    if item.lacks:
        return item.lacks
    faults = ((part, fault_of(root, part)) for part in item.version.parts)
    return next((f"its part {part} {fault}" for part, fault in faults if fault), None)
