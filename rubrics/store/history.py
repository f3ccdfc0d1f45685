"""The commits of a store: what each changed, and the manifest of one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rubrics.errors import UsageError
from rubrics.store.manifest import Manifest, Version, history, read_manifest
from rubrics.store.paths import StorePaths


def commits(root: Path) -> list[Manifest]:
    """Manifests of the commits that were made and are still known, oldest first.

    Raises `StoreError` when there is no store.
    """
    paths = StorePaths(root.resolve())
    now = read_manifest(paths.manifest)
    return [*(item for item in history(paths.root) if item.commit < now.commit), now]


def commit_of(root: Path, number: int) -> Manifest:
    """The manifest of one commit. Raises `UsageError` for a number that is not there."""
    known = {item.commit: item for item in commits(root)}
    if number not in known:
        listed = ", ".join(map(str, known))
        raise UsageError(f"{root}: no commit {number}; known: {listed} (`rubrics clean` forgets the others)")
    return known[number]


def changes(root: Path) -> list[dict[str, Any]]:
    """A row per commit: number, time, stage, and rows that came and went by table."""
    before: Manifest | None = None
    rows = []
    for item in commits(root):
        said = ", ".join(changed(before, item)) if before is not None else "first that is known"
        rows.append({"commit": item.commit, "time": item.time, "stage": item.stage, "changed": said})
        before = item
    return rows


def changed(before: Manifest, after: Manifest) -> Iterator[str]:
    """In words, per table that differs: its rows before and after."""
    for name in sorted({*before.tables, *after.tables}):
        old, new = before.current(name) or Version(), after.current(name) or Version()
        if old != new:
            yield f"{name} {old.rows}" if old.rows == new.rows else f"{name} {old.rows} -> {new.rows}"
