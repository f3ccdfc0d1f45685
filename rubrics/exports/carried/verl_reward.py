"""Reward functions for verl: `reward.custom_reward_function.path=<this file>`, `.name=compute_score`."""

from __future__ import annotations

from typing import Any

from rubrics.exports.carried.lookup import find


def compute_score(data_source: str, solution_str: str, ground_truth: Any, extra_info: Any = None, **_: Any) -> float:
    """The stored reward of a rollout: for estimators that subtract the group's mean and do nothing else."""
    return float(_row(solution_str, extra_info)["reward"])


def compute_advantage_score(
    data_source: str, solution_str: str, ground_truth: Any, extra_info: Any = None, **_: Any
) -> dict[str, float]:
    """The stored advantage as the score: for the estimator `rubrics_stored`, which hands it on as it is."""
    row = _row(solution_str, extra_info)
    return {"score": float(row["advantage"]), "stored_reward": float(row["reward"])}


def _row(solution: str, extra_info: Any) -> dict[str, Any]:
    extra = extra_info or {}
    row = find(extra.get("rollout_id"), solution, extra.get("group_id"))
    if row is None:
        raise KeyError(f"no stored reward for rollout {extra.get('rollout_id')!r}; a missing reward is never a number")
    return row
