"""Reward function for slime: `--custom-rm-path reward_function.custom_rm`, `--label-key label`."""

from __future__ import annotations

from typing import Any

from rubrics.exports.carried.lookup import find


async def custom_rm(args: Any, sample: Any, **_: Any) -> Any:
    """The stored reward of a sample, whose label is a rollout_id; of a list of samples, the list of theirs."""
    return [_reward(one) for one in sample] if isinstance(sample, list) else _reward(sample)


def _reward(sample: Any) -> float:
    row = find(rollout_id=sample.label)
    if row is None:
        raise KeyError(f"no stored reward for rollout {sample.label!r}; a missing reward is never a number")
    return float(row["reward"])
