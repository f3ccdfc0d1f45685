"""Writing to stores and looking at what is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rubrics.store.manifest import _digest
from rubrics.store.schema import TABLES
from rubrics.store.store import Store

Rows = dict[str, list[dict[str, Any]]]


def write(store: Store, stage: str = "", **tables: list[dict[str, Any]]) -> None:
    with store.writing(stage) as run:
        for name, rows in tables.items():
            run.append(name, rows)


def tables(store: Store) -> Rows:
    return {name: store.rows(name) for name in TABLES}


def parts_of(store: Store, table: str) -> list[Path]:
    version = store.manifest().current(table)
    assert version is not None
    return [store.paths.root / part for part in version.parts]


def files_of(store: Store) -> list[str]:
    root = store.paths.root
    return sorted(str(item.relative_to(root)) for item in root.rglob("*") if item.is_file() and item.name != ".lock")


def contents(store: Store) -> dict[str, bytes]:
    return {name: (store.paths.root / name).read_bytes() for name in files_of(store)}


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 0x10
    path.write_bytes(content)


def signed(**said: Any) -> str:
    """A manifest that says this, with the digest that belongs to it."""
    content = {"format": 2, "commit": 1, "stage": "", "time": "", "files": {}, "tables": {}, **said}
    return json.dumps({**content, "digest": _digest(content)})
