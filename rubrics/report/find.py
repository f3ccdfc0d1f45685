"""Which rollout a person means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rubrics.errors import UsageError
from rubrics.store.store import Store
from rubrics.visible import one_line, shortened

MIN_PREFIX = 4
_LISTED = 8
_SHOWN = 60
"""Characters of a dump's own id that a list of candidates shows."""
_MATCHES = f"""
    SELECT rollout_id, source_id, task_id, run, attempt FROM rollouts
    WHERE task_id || '/' || run = $name OR source_id = $name OR task_id || '/' || source_id = $name
       OR (length($name) >= {MIN_PREFIX} AND starts_with(rollout_id, lower($name)))
    ORDER BY rollout_id <> lower($name), task_id, run, attempt, rollout_id
"""
_NEAR = """
    SELECT name FROM (SELECT DISTINCT task_id || '/' || run AS name FROM rollouts)
    ORDER BY jaro_winkler_similarity(name, $name) DESC, name LIMIT 5
"""


def find(store: Store, name: str) -> str:
    """The rollout_id that `name` stands for: a whole one, a unique beginning of four digits or more, the dump's own id
    (`source_id`) by itself or behind its task (`task/source_id`), or `task/run`.

    Raises `UsageError` when nothing or more than one rollout is meant.
    """
    rows = store.query(_MATCHES, {"name": name}).to_pylist()
    if rows and (len(rows) == 1 or rows[0]["rollout_id"] == name.lower()):
        return str(rows[0]["rollout_id"])
    asked = one_line(shortened(name, 100))
    if rows:
        listed = [f"  {_candidate(row)}" for row in rows[:_LISTED]]
        more = [f"  and {len(rows) - _LISTED} more"] if len(rows) > _LISTED else []
        candidates = "\n".join(map(one_line, listed + more))
        raise UsageError(f"{asked!r} names {len(rows)} rollouts; give more of one rollout_id:\n{candidates}")
    near = [one_line(row["name"]) for row in store.query(_NEAR, {"name": name}).to_pylist()]
    raise UsageError(
        f"no rollout {asked!r} in {store.paths.root}; give a rollout_id, {MIN_PREFIX} or more of its first digits, the "
        "dump's own id of it, or task/run"
        + (":\n" + "\n".join(f"  {item}" for item in near) if near else ": the store holds no rollouts")
    )


def _candidate(row: Mapping[str, Any]) -> str:
    own = "" if row["source_id"] is None else f", source_id {shortened(row['source_id'], _SHOWN)}"
    return f"{row['rollout_id']}  {row['task_id']}/{row['run']} attempt {row['attempt']}{own}"
