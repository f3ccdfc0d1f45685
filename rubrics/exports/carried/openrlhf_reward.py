"""Reward function for OpenRLHF: `--reward.remote_url <this file>`, `--data.label_key label`."""

from __future__ import annotations

from typing import Any

from rubrics.exports.carried.lookup import find


def reward_func(queries: list[str], prompts: list[str], labels: list[str], **_: Any) -> dict[str, Any]:
    """The stored reward of each label, which is a rollout_id."""
    import torch

    rows = [find(rollout_id=label) for label in labels]
    missing = [label for label, row in zip(labels, rows, strict=True) if row is None]
    if missing:
        raise KeyError(f"no stored reward for rollouts {missing[:3]}; a missing reward is never a number")
    rewards = torch.tensor([float(row["reward"]) for row in rows if row is not None])
    return {"rewards": rewards, "scores": rewards, "extra_logs": {"stored_reward": rewards}}
