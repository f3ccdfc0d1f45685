"""NeMo Gym's own models accept every exported line, and its profiler counts rollouts and rewards as the table does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from export_store import REWARDS

pytest.importorskip("nemo_gym", reason="no nemo_gym here: it needs Python 3.12; `pip install nemo-gym` there")

from nemo_gym.base_resources_server import BaseVerifyResponse
from nemo_gym.reward_profile import RewardProfiler


@pytest.fixture
def rows(exported: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (exported("nemo") / "rollouts.jsonl").read_text().splitlines()]


def test_every_line_is_a_valid_verify_response(rows: list[dict[str, Any]]) -> None:
    kinds = set()
    for row in rows:
        known = {name: row[name] for name in ("responses_create_params", "response", "reward")}
        verified = BaseVerifyResponse.model_validate(known)
        assert verified.reward == row["reward"]
        kinds |= {item.type for item in verified.response.output if hasattr(item, "type")}
    assert kinds >= {"message", "function_call", "function_call_output", "reasoning"}


def test_the_profiler_finds_every_rollout_and_the_means_of_the_table(rows: list[dict[str, Any]]) -> None:
    names = ("_ng_task_index", "_ng_rollout_index", "agent_ref", "responses_create_params")
    inputs = [{name: row[name] for name in names} for row in rows]
    by_task, _ = RewardProfiler().profile_from_data(inputs, rows)
    wanted = [sum(REWARDS[group]) / len(REWARDS[group]) for group in sorted(REWARDS)]
    assert [task["mean/reward"] for task in by_task] == pytest.approx(wanted)
    assert all(task["reward_profile_completion_pct"] == 100 for task in by_task)
