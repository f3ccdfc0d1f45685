"""What several stages ask of the store about tasks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from typing import Any

from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk
from rubrics.store.store import Store


def task_chunks(store: Store, options: Options, left_out: Collection[str] = ()) -> Iterator[Chunk]:
    """Chunks of whole tasks, of about `options.chunk` rollouts each, in the order of the task ids."""
    counted = store.query("SELECT task_id, count(*) AS n FROM rollouts GROUP BY task_id ORDER BY task_id").to_pylist()
    chosen = [row for row in counted if fnmatchcase(row["task_id"], options.tasks)][: options.limit]
    items: list[str] = []
    rollouts = 0
    for row in (row for row in chosen if row["task_id"] not in left_out):
        items.append(row["task_id"])
        rollouts += row["n"]
        if rollouts >= options.chunk:
            yield Chunk(items[0], tuple(items), rollouts)
            items, rollouts = [], 0
    if items:
        yield Chunk(items[0], tuple(items), rollouts)


def by_task(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Rows grouped by their `task_id`, each group in its old order."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["task_id"], []).append(row)
    return groups
