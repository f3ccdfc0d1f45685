"""Advantage estimator for verl that hands the stored advantages on: `algorithm.adv_estimator=rubrics_stored`.

Needs `custom_reward_function.name=compute_advantage_score` of the reward function beside this file. Importing this
module registers the estimator: put this folder on PYTHONPATH and name the module in VERL_USE_EXTERNAL_MODULES.
"""

from __future__ import annotations

from typing import Any

from verl.trainer.ppo.core_algos import register_adv_est


@register_adv_est("rubrics_stored")  # type: ignore[untyped-decorator]
def stored_advantage(
    token_level_rewards: Any, response_mask: Any, config: Any = None, index: Any = None, **_: Any
) -> tuple[Any, Any]:
    """Spread each rollout's score, which is its stored advantage, over its response tokens. No mean, no std."""
    if config is not None and config.get("use_kl_in_reward", False):
        raise ValueError("algorithm.use_kl_in_reward=True changes the stored advantages; set it to False")
    advantages = token_level_rewards.sum(dim=-1, keepdim=True) * response_mask
    return advantages, advantages
