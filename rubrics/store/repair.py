"""A manifest made again, and a store looked over. Neither deletes anything.

Of each table the newest version is taken all of whose parts are what was written: the manifest's, else one of the
history's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rubrics.errors import StoreError
from rubrics.store.files import locked, write_atomic
from rubrics.store.manifest import Manifest, OtherFormatError, Version, history, read_manifest, write_manifest
from rubrics.store.part_files import fault_of, faults_of
from rubrics.store.paths import StorePaths
from rubrics.store.pending import settle
from rubrics.store.presence import require
from rubrics.store.schema import SCORED, TABLES
from rubrics.store.views import views_sql


@dataclass(frozen=True, slots=True)
class Choice:
    """What became of one table."""

    table: str
    state: str
    """`kept` as it was, `older` than the newest, or `lost`."""
    rows: int | None
    commit: int | None
    """The last commit that it is as of."""
    wrong: str
    """What is wrong with the newer ones, and the remedy."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that is not as it was written."""

    table: str
    part: str
    wrong: str


def repair(root: Path) -> tuple[str, list[Choice]]:
    """Write a manifest with the newest whole version of every table; says what it was made from, and what was chosen.

    Raises `StoreError` when there is no store, when another process writes, and when neither manifest nor history can
    be read.
    """
    paths = StorePaths(root.resolve())
    require(paths.root)
    with locked(paths.lock):
        manifest, why = _readable(paths.manifest)
        past = [item for item in history(paths.root) if manifest is None or item.commit < manifest.commit]
        known = [*past, *([manifest] if manifest else [])]
        if not known:
            raise StoreError(
                f"{root}: {why}, and its history is not there: nothing says which parts make a table; "
                "put history/ back from a copy, or make the store again"
            )
        settle(paths, known[-1].commit)  # the files of the newest commit, before another one is made
        tables, choices = _chosen(paths.root, known)
        if any(choice.state != "kept" for choice in choices) and SCORED.name in tables:
            tables[SCORED.name] = Version()  # what is done already is not known any more
        if manifest is None or any(choice.state != "kept" for choice in choices):
            made = known[-1].after("repair", tables)
            write_manifest(paths.root, made)
            manifest = made
        views = views_sql(manifest)
        if not paths.views.is_file() or paths.views.read_bytes() != views.encode():
            write_atomic(paths.views, views)
    return ("its history" if why else "its manifest") + (f" ({why})" if why else ""), choices


def _readable(path: Path) -> tuple[Manifest | None, str]:
    try:
        return read_manifest(path), ""
    except OtherFormatError:
        raise
    except StoreError:
        return None, "manifest.json is not there" if not path.exists() else "manifest.json cannot be read"


def _chosen(root: Path, known: Sequence[Manifest]) -> tuple[dict[str, Version], list[Choice]]:
    """Per table the newest whole version; `known`: manifests, oldest first."""
    tables, choices = {}, []
    for table in sorted({name for item in known for name in item.tables}):
        wrong: list[str] = []
        tables[table] = Version()
        for item in reversed(known):
            version = item.current(table)
            if version is None:
                continue
            fault = _fault(root, version)
            if fault is None:
                tables[table] = version
                state = "older" if wrong else "kept"
                choices.append(Choice(table, state, version.rows, item.commit, _way(table, wrong)))
                break
            wrong += [said for said in (f"commit {item.commit}: {fault}",) if fault not in " ".join(wrong)]
        else:
            choices.append(Choice(table, "lost", None, None, _way(table, wrong)))
    return tables, choices


def _fault(root: Path, version: Version) -> str | None:
    found = zip(version.parts, faults_of(root, version.parts), strict=True)
    return next((f"its part {part} {fault}" for part, fault in found if fault), None)


def _way(table: str, wrong: list[str]) -> str:
    return f"{'; '.join(wrong)}; `{TABLES[table].made_by}` makes it again" if wrong else ""


def look_over(root: Path) -> Iterator[Damage]:
    """Everything of a store that is not as it was written: the manifest, every part that it or the history names, and
    values of the current tables that their columns may not hold. Without either: every part that is there."""
    paths = StorePaths(root.resolve())
    manifest, why = _readable(paths.manifest)
    if manifest is None:
        require(paths.root)
        yield Damage("", "manifest.json", why)
    current = manifest.parts() if manifest else frozenset()
    for table, part in _parts(paths.root, manifest):
        if fault := fault_of(paths.root, part):
            yield Damage(table, part, fault)
        elif part in current:
            yield from _values(paths.root, table, part)


def _parts(root: Path, manifest: Manifest | None) -> Iterator[tuple[str, str]]:
    """Table and part of everything that a manifest names, or that is there."""
    known = [*history(root), *([manifest] if manifest else [])]
    named = {(table, part) for item in known for table, version in item.tables.items() for part in version.parts}
    there = {(path.parent.name, path.relative_to(root).as_posix()) for path in root.glob("tables/*/*.parquet")}
    yield from sorted(named if known else there)


def _values(root: Path, table: str, part: str) -> Iterator[Damage]:
    try:
        wrong = TABLES[table].first_outside(pq.read_table(root / part))
    except (pa.ArrowException, KeyError, OSError) as error:
        wrong = f"cannot be decoded ({str(error).splitlines()[0]})"
    if wrong:
        yield Damage(table, part, wrong)
