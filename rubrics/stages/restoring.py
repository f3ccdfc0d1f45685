"""A past commit brought back, with the rubric files that belong to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rubrics.stages.rubric_files import keep_edited
from rubrics.store.history import changed, commit_of
from rubrics.store.store import Store


def restore_commit(root: Path, number: int) -> tuple[int, list[dict[str, Any]]]:
    """Bring the tables and rubric files of commit `number` back; returns the number of the new commit and what changed.

    A rubric file that a person edited is kept beside (`.yaml.old`). Raises `UsageError` for an unknown number,
    `StoreError` when something of then is gone.
    """
    store = Store.open(root)
    past, before = commit_of(store.paths.root, number), store.manifest()
    written = {name: {item.files.get(name) for item in (past, before)} for name in sorted({*past.files, *before.files})}
    aside = [kept for name, known in written.items() if (kept := keep_edited(store.paths.root / name, known))]
    made = store.restore(past)
    said = [*changed(before, made), *(f"a file edited by hand was kept as {name}" for name in aside)]
    return made.commit, [{"changed": line} for line in said]
