"""The manifest: which parts make each table now; and the history: what it said at every commit before."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rubrics import __version__
from rubrics.digests import digest128
from rubrics.errors import StoreError
from rubrics.store.files import write_atomic
from rubrics.store.part_files import PART
from rubrics.store.presence import absent
from rubrics.store.schema import FORMAT_MAJOR, TABLES

FILE = re.compile(r"rubrics/[^/\x00]+\.yaml")
DIGEST = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Part:
    """One immutable file of a table."""

    path: str
    """Relative to the store's root."""
    rows: int


@dataclass(frozen=True, slots=True)
class Version:
    """One version of one table."""

    listed: tuple[Part, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """Paths relative to the store's root."""
        return tuple(part.path for part in self.listed)

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.listed)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the tables are after a commit."""

    tables: Mapping[str, Version] = field(default_factory=dict)
    commit: int = 0
    """Commits made so far; 0: the store is new."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Files that were written with commits (rubrics), by their names in the store: digest of the text, which
    `files/<digest>` holds."""
    stage: str = ""
    """What made the commit."""
    time: str = ""
    """When, as UTC in ISO 8601."""

    def current(self, table: str) -> Version | None:
        """The version of a table; null when nothing has written it."""
        return self.tables.get(table)

    def after(self, stage: str, new: Mapping[str, Version], files: Mapping[str, str] | None = None) -> Manifest:
        """The next commit, in which these tables and files are new."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return Manifest({**self.tables, **new}, self.commit + 1, {**self.files, **(files or {})}, stage, now)

    def parts(self) -> set[str]:
        """Every part that it names."""
        return {part for version in self.tables.values() for part in version.parts}


AGAIN = "ingest its dumps into a new one, and copy its model-cache.sqlite there to keep the replies that were paid for"
"""How a store of another format is made again."""


class OtherFormatError(StoreError):
    """A manifest is whole, and of another major format version."""


def read_manifest(path: Path) -> Manifest:
    """Read a manifest. Raises `StoreError` when it is missing or broken, `OtherFormatError` when it is of another major
    format version, `OSError` when it is there and may not be read."""
    try:
        if path.exists() and not path.is_file():
            raise StoreError(
                f"{path}: no regular file; move it away: `rubrics repair` makes a manifest from the history"
            )
        content = json.loads(path.read_text("utf-8"))
        found = content["format"]
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(absent(path.parent)) from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _broken(path, error) from None
    if found != FORMAT_MAJOR or isinstance(found, bool):
        raise OtherFormatError(
            f"{path}: format {found!r}, this program reads format {FORMAT_MAJOR}; "
            f"use the version that wrote it ({content.get('producer', 'unknown')}) or make the store again: {AGAIN}"
        )
    if content.get("digest") != _digest(content):
        raise _broken(path, ValueError("its digest is that of another one"))
    return _from_json(path, content)


def _digest(content: dict[str, Any]) -> str:
    """Over everything that a manifest says, but the digest itself."""
    said = {name: value for name, value in content.items() if name != "digest"}
    return digest128([json.dumps(said, sort_keys=True)])


def _from_json(path: Path, content: dict[str, Any]) -> Manifest:
    try:
        tables = {
            name: Version(tuple(Part(str(part), int(rows)) for part, rows in listed))
            for name, listed in content["tables"].items()
            if name in TABLES
        }
        files = {str(name): str(digest) for name, digest in content["files"].items()}
        made = Manifest(tables, int(content["commit"]), files, str(content["stage"]), str(content["time"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _broken(path, error) from None
    for name, digest in files.items():
        if FILE.fullmatch(name) is None or DIGEST.fullmatch(digest) is None:
            raise StoreError(f"{path}: file {name!r} is none of a store's; do not use this store")
    for name, version in tables.items():
        for part in version.parts:
            match = PART.fullmatch(part)
            if match is None or match["table"] != name:
                raise StoreError(f"{path}: part {part!r} is no part of table {name}; do not use this store")
    return made


def _broken(path: Path, error: Exception) -> StoreError:
    way = "`rubrics repair` makes it again from the history; or restore it or make the store again"
    return StoreError(f"{path}: not a manifest ({error}); {way}")


def write_manifest(root: Path, manifest: Manifest) -> None:
    """Put the manifest into the history, then in place, in one step: a reader sees the old one or the new one."""
    text = _to_json(manifest)
    write_atomic(history_file(root, manifest.commit), text)
    write_atomic(root / "manifest.json", text)


def _to_json(manifest: Manifest) -> str:
    content: dict[str, Any] = {
        "format": FORMAT_MAJOR,
        "producer": f"rubrics {__version__}",
        "commit": manifest.commit,
        "stage": manifest.stage,
        "time": manifest.time,
        "files": dict(sorted(manifest.files.items())),
        "tables": {
            name: [[part.path, part.rows] for part in version.listed]
            for name, version in sorted(manifest.tables.items())
        },
    }
    return json.dumps({**content, "digest": _digest(content)}, indent=1) + "\n"


def history_file(root: Path, commit: int) -> Path:
    return root / "history" / f"{commit:08d}.json"


def history(root: Path) -> Iterator[Manifest]:
    """The manifest of every commit that can be read, oldest first; one that was never put in place may be the last."""
    for path in sorted((root / "history").glob("[0-9]*.json")):
        try:
            yield read_manifest(path)
        except StoreError:
            continue


def as_after(past: Manifest, now: Manifest, stage: str) -> Manifest:
    """A commit that brings the tables of a past one back; tables that it did not have are empty."""
    emptied = {name: Version() for name in now.tables}
    return replace(now, tables={}, files={}).after(stage, {**emptied, **past.tables}, past.files)
