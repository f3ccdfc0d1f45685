"""A manifest made again, and a store looked over. Neither deletes anything.

Of each table the newest version is taken all of whose parts are what was written: from the manifest where it can be
read, else from what the parts say of themselves (`rubrics.store.left`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rubrics.errors import StoreError
from rubrics.store.connections import check_unique, told_as_store_error
from rubrics.store.files import locked, write_atomic
from rubrics.store.left import Left, fault_of_version, left_versions
from rubrics.store.manifest import Manifest, OtherFormatError, Version, is_lost, read_manifest, write_manifest
from rubrics.store.part_files import fault_of, label_of
from rubrics.store.paths import StorePaths
from rubrics.store.schema import TABLES
from rubrics.store.views import views_sql


@dataclass(frozen=True, slots=True)
class Choice:
    """What became of one table."""

    table: str
    state: str
    """`kept` as the manifest had it, `found` by what the parts say, `older` than the newest, or `lost`."""
    rows: int | None
    version: str
    """Which version it is now."""
    wrong: str
    """What is wrong with the newer ones, and the remedy."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that is not as it was written."""

    table: str
    part: str
    wrong: str


def repair(root: Path, take: Collection[str] = ()) -> tuple[str, list[Choice]]:
    """Write a manifest with the newest whole version of every table; says what it was made from, and what was chosen.

    Raises `StoreError` when there is no store, when another process writes, and when the parts do not say which
    version is the newest.
    """
    paths = StorePaths(root.resolve())
    if not paths.manifest.exists() and not is_lost(paths.root):
        read_manifest(paths.manifest)  # says that there is none
    with locked(paths.lock):
        manifest, why = _readable(paths.manifest)
        source = "its manifest" if manifest else f"what the parts say ({why})"
        before, dropped = (_listed(manifest), []) if manifest else left_versions(paths.root, take)
        tables, choices = _chosen(paths.root, before, "kept" if manifest else "found", dropped)
        last = manifest.commits if manifest else max((item.commit for item in before), default=0)
        made = Manifest(tables, last)
        if made != manifest:
            write_manifest(paths.manifest, made)
        views = views_sql(made)
        if not paths.views.is_file() or paths.views.read_bytes() != views.encode():
            write_atomic(paths.views, views)
    return source, choices


def _readable(path: Path) -> tuple[Manifest | None, str]:
    try:
        return read_manifest(path), ""
    except OtherFormatError:
        raise
    except StoreError:
        return None, "manifest.json is not there" if not path.exists() else "manifest.json cannot be read"


def _listed(manifest: Manifest) -> list[Left]:
    return [Left(table, version) for table, versions in manifest.tables.items() for version in versions]


def _chosen(
    root: Path, found: Sequence[Left], state: str, dropped: Sequence[Left]
) -> tuple[dict[str, tuple[Version, ...]], list[Choice]]:
    """Per table the versions up to the newest whole one."""
    tables, choices = {}, []
    for table in sorted({item.table for item in (*found, *dropped)}):
        items = [item for item in found if item.table == table]
        unfinished = "".join(
            f"; left out, its run did not end: {item.said()}" for item in dropped if item.table == table
        )
        wrong = []
        while items and (fault := fault_of_version(root, items[-1]) or _repeats(root, items[-1])):
            wrong.append(f"{_named(root, items.pop())}: {fault}")
        if items:
            tables[table] = tuple(item.version for item in items)
            version = items[-1].version
            said = (_way(table, wrong) + unfinished).removeprefix("; ")
            choices.append(Choice(table, "older" if wrong else state, version.rows, _named(root, items[-1]), said))
        elif wrong:
            choices.append(Choice(table, "lost", None, "", _way(table, wrong) + unfinished))
    return tables, choices


def _named(root: Path, item: Left) -> str:
    """A version in words, also where only the manifest told of it."""
    label = next((label for part in item.version.parts if (label := label_of(root / part))), None)
    return (replace(item, stage=label.stage, commit=label.commit) if label and not item.commit else item).said()


def _way(table: str, wrong: list[str]) -> str:
    return f"{'; '.join(wrong)}; `{TABLES[table].made_by}` makes it again" if wrong else ""


def _repeats(root: Path, item: Left) -> str | None:
    """Whether rows share a key: so it is when a run was killed before that was looked at."""
    try:
        with told_as_store_error(root):
            check_unique({item.table: [root / part for part in item.version.parts]})
    except StoreError as error:
        return str(error)
    return None


def look_over(root: Path) -> Iterator[Damage]:
    """Everything of a store that is not as it was written: the manifest, every part that it names, and values of the
    current tables that their columns may not hold. Without a manifest: every part that is there."""
    paths = StorePaths(root.resolve())
    manifest, why = _readable(paths.manifest)
    if manifest is None:
        if not paths.manifest.exists() and not is_lost(paths.root):
            read_manifest(paths.manifest)
        yield Damage("", "manifest.json", why)
    for table, part, current in _parts(paths.root, manifest):
        if fault := fault_of(paths.root, part):
            yield Damage(table, part, fault)
        elif current:
            yield from _values(paths.root, table, part)


def _parts(root: Path, manifest: Manifest | None) -> Iterator[tuple[str, str, bool]]:
    """Table, part, and whether it is one of the current version."""
    if manifest is None:
        for path in sorted(root.glob("tables/*/*.parquet")):
            yield path.parent.name, path.relative_to(root).as_posix(), path.parent.name in TABLES
        return
    for table, versions in sorted(manifest.tables.items()):
        for part in dict.fromkeys(part for version in versions for part in version.parts):
            yield table, part, part in versions[-1].parts


def _values(root: Path, table: str, part: str) -> Iterator[Damage]:
    try:
        wrong = TABLES[table].first_outside(pq.read_table(root / part))
    except (pa.ArrowException, KeyError, OSError) as error:
        wrong = f"cannot be decoded ({str(error).splitlines()[0]})"
    if wrong:
        yield Damage(table, part, wrong)
