"""Whether a folder is a store at all: asked before anything else is loaded."""

from __future__ import annotations

from pathlib import Path

from rubrics.errors import StoreError


def require(root: Path) -> None:
    """Raises `StoreError` where there is no store. One whose manifest is lost or damaged is one."""
    root = root.resolve()
    if not (root / "manifest.json").exists() and not is_lost(root):
        raise StoreError(absent(root))


def is_lost(root: Path) -> bool:
    """Whether a folder holds parts of tables and no manifest."""
    return not (root / "manifest.json").exists() and any(root.glob("tables/*/*.parquet"))


def absent(root: Path) -> str:
    """What to say of a folder without a manifest."""
    if root.exists() and not root.is_dir():
        return f"{root}: no folder; name a store, or make one with `rubrics run`"
    if is_lost(root):
        return f"{root}: its manifest.json is lost; `rubrics repair --store {root}` makes it again from the history"
    return f"{root}: no manifest.json here; name a store, or make one with `rubrics run`"
