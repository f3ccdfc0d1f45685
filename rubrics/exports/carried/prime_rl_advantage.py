"""Custom advantage function for prime-rl: `import_path = "advantage.stored_advantage"`."""

from __future__ import annotations

from typing import Any

from rubrics.exports.carried.lookup import find


def stored_advantage(inputs: Any, **_: Any) -> Any:
    """The stored advantage of each rollout of a group, spread over its tokens."""
    names = [rollout["info"]["rollout_id"] for rollout in inputs.rollouts]
    rows = [find(rollout_id=name) for name in names]
    missing = [name for name, row in zip(names, rows, strict=True) if row is None]
    if missing:
        raise KeyError(f"no stored advantage for rollouts {missing[:3]}; a missing advantage is never a number")
    return inputs.broadcast([float(row["advantage"]) for row in rows if row is not None])
