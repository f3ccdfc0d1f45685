"""Environment for SkyRL that scores one completion by its stored reward: env_class `rubrics`.

Import this module before training: it registers the environment with skyrl_gym.
"""

from __future__ import annotations

from typing import Any

from skyrl_gym.envs import register
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from rubrics.exports.carried.lookup import find


class RubricsEnv(BaseTextEnv):  # type: ignore[misc]
    """One step: the completion is the action, the stored reward its reward."""

    def __init__(self, env_config: Any = None, extras: dict[str, Any] | None = None) -> None:
        super().__init__()
        self._extras = extras or {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        name = self._extras.get("rollout_id")
        row = find(name, action, self._extras.get("group_id"))
        if row is None:
            raise KeyError(f"no stored reward for rollout {name!r}; a missing reward is never a number")
        found = {"rollout_id": row["rollout_id"], "advantage": row["advantage"]}
        return BaseTextEnvStepOutput(observations=[], reward=float(row["reward"]), done=True, metadata=found)


register(id="rubrics", entry_point=RubricsEnv)
