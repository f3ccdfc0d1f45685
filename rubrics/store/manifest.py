"""The manifest: which parts make each table now, and which made it before."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rubrics import __version__
from rubrics.digests import digest128
from rubrics.errors import StoreError
from rubrics.store.files import write_atomic
from rubrics.store.part_files import PART
from rubrics.store.schema import FORMAT_MAJOR, TABLES


@dataclass(frozen=True, slots=True)
class Version:
    """One version of one table."""

    run_id: str
    parts: tuple[str, ...]
    """Paths relative to the store's root."""
    rows: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """`tables` maps a table's name to its versions, oldest first; the last one is current."""

    tables: dict[str, tuple[Version, ...]] = field(default_factory=dict)
    commits: int = 0
    """Commits made so far; parts name the one they are of."""

    def current(self, table: str) -> Version | None:
        versions = self.tables.get(table, ())
        return versions[-1] if versions else None

    def with_versions(self, new: dict[str, Version]) -> Manifest:
        merged = {name: (*self.tables.get(name, ()), version) for name, version in new.items()}
        return replace(self, tables={**self.tables, **merged}, commits=self.commits + 1)

    def only_current(self) -> Manifest:
        return replace(self, tables={name: versions[-1:] for name, versions in self.tables.items()})

    def parts(self) -> set[str]:
        """Every part that any version names."""
        return {part for versions in self.tables.values() for version in versions for part in version.parts}


AGAIN = "ingest its dumps into a new one, and copy its model-cache.sqlite there to keep the replies that were paid for"
"""How a store of another format is made again."""


class OtherFormatError(StoreError):
    """A manifest is whole, and of another major format version."""


def read_manifest(path: Path) -> Manifest:
    """Read a manifest. Raises `StoreError` when it is missing or broken, `OtherFormatError` when it is of another major
    format version, `OSError` when it is there and may not be read."""
    try:
        if path.exists() and not path.is_file():
            raise StoreError(f"{path}: no regular file; move it away: `rubrics repair` makes a manifest from the parts")
        content = json.loads(path.read_text("utf-8"))
        found = content["format"]
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(_absent(path.parent)) from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _broken(path, error) from None
    if found != FORMAT_MAJOR or isinstance(found, bool):
        raise OtherFormatError(
            f"{path}: format {found!r}, this program reads format {FORMAT_MAJOR}; "
            f"use the version that wrote it ({content.get('producer', 'unknown')}) or make the store again: {AGAIN}"
        )
    if "digest" in content and content["digest"] != _digest(content):
        raise _broken(path, ValueError("its digest is that of another one"))
    return _from_json(path, content)


def _digest(content: dict[str, Any]) -> str:
    """Over everything that a manifest says, but the digest itself."""
    said = {name: value for name, value in content.items() if name != "digest"}
    return digest128([json.dumps(said, sort_keys=True)])


def _from_json(path: Path, content: dict[str, Any]) -> Manifest:
    try:
        tables = {
            name: tuple(Version(str(item["run_id"]), tuple(item["parts"]), int(item["rows"])) for item in versions)
            for name, versions in content["tables"].items()
            if name in TABLES
        }
        commits = int(content.get("commits", 0))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _broken(path, error) from None
    for name, versions in tables.items():
        for part in (part for version in versions for part in version.parts):
            match = PART.fullmatch(part) if isinstance(part, str) else None
            if match is None or match["table"] != name:
                raise StoreError(f"{path}: part {part!r} is no part of table {name}; do not use this store")
    return Manifest(tables, commits)


def _broken(path: Path, error: Exception) -> StoreError:
    way = "`rubrics repair` makes it again from the parts; or restore it or make the store again"
    return StoreError(f"{path}: not a manifest ({error}); {way}")


def is_lost(root: Path) -> bool:
    """Whether a folder holds parts of tables and no manifest."""
    return not (root / "manifest.json").exists() and any(root.glob("tables/*/*.parquet"))


def _absent(root: Path) -> str:
    if root.exists() and not root.is_dir():
        return f"{root}: no folder; name a store, or make one with `rubrics run`"
    if is_lost(root):
        return f"{root}: its manifest.json is lost; `rubrics repair --store {root}` makes it again from the parts"
    return f"{root}: no manifest.json here; name a store, or make one with `rubrics run`"


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Replace the manifest in one step: a reader sees the old one or the new one."""
    content: dict[str, Any] = {
        "format": FORMAT_MAJOR,
        "producer": f"rubrics {__version__}",
        "commits": manifest.commits,
        "tables": {
            name: [{"run_id": v.run_id, "parts": list(v.parts), "rows": v.rows} for v in versions]
            for name, versions in sorted(manifest.tables.items())
        },
    }
    write_atomic(path, json.dumps({**content, "digest": _digest(content)}, indent=1) + "\n")
