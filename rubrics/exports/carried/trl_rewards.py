"""Reward function for TRL's GRPOTrainer: `reward_funcs=[rubrics_reward]`."""

from __future__ import annotations

from typing import Any

from rubrics.exports.carried.lookup import find


def rubrics_reward(
    prompts: list[Any],
    completions: list[Any],
    rollout_id: list[str | None] | None = None,
    group_id: list[str | None] | None = None,
    **_: Any,
) -> list[float | None]:
    """The stored reward of each completion; None where none is stored: the trainer leaves such rows out.

    With the column `rollout_id` (given by `replay.py`) rows are found by it, else by the completion itself.
    """
    groups = group_id or [None] * len(completions)
    if rollout_id is not None:
        rows = [find(rollout_id=name) if name else None for name in rollout_id]
    else:
        rows = [find(completion=item, group_id=group) for item, group in zip(completions, groups, strict=True)]
    return [None if row is None else float(row["reward"]) for row in rows]
