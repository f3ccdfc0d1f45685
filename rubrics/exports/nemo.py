"""NeMo Gym and NeMo RL: rollouts in the form of the Responses API, with reward and its components."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rubrics.exports.arithmetic import IS_ON, STD, Fact, not_one_of
from rubrics.exports.messages import Message
from rubrics.exports.samples import Group, Sample
from rubrics.exports.target import Output, Target, count_sample, grades, identity

Item = dict[str, Any]


def write(groups: Iterable[Group], output: Output) -> None:
    """`rollouts.jsonl`, one line per rollout."""
    with output.json_lines("rollouts.jsonl") as rows:
        for group in groups:
            for number, sample in enumerate(group.samples):
                rows.append([_row(group, number, sample)])
                count_sample(output, sample)


def _row(group: Group, number: int, sample: Sample) -> Item:
    told = grades(sample)
    parts = {name: float(told[name]) for name in ("test", "solution", "behavior") if told[name] is not None}
    return {
        "_ng_task_index": group.number,
        "_ng_rollout_index": number,
        "agent_ref": {"type": "responses_api_agents", "name": "rubrics"},
        "responses_create_params": {"input": [dict(message) for message in sample.prompt]},
        "response": _response(sample),
        "reward": sample.reward,
        "reward_components": parts,
        "rubrics": {**identity(sample), **told},
    }


def _response(sample: Sample) -> Item:
    """What the Responses API would have returned; it was not called, so the times are 0."""
    return {
        "id": f"resp_{sample.rollout_id}",
        "object": "response",
        "created_at": 0,
        "model": sample.row["policy"] or "unknown",
        "output": response_items(sample.rollout_id, sample.completion),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def response_items(name: str, messages: Sequence[Message]) -> list[Item]:
    """Chat messages as items: reasoning, messages, function calls and their outputs, in order."""
    items: list[Item] = []
    for number, message in enumerate(messages):
        if message["role"] == "tool":
            items.append(
                {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}
            )
        elif message["role"] == "assistant":
            items += _spoken(f"{name}_{number}", message)
        else:
            items.append({"type": "message", "role": message["role"], "content": message["content"]})
    return items


def _spoken(name: str, message: Message) -> list[Item]:
    items: list[Item] = []
    if message.get("reasoning_content"):
        summary = [{"type": "summary_text", "text": message["reasoning_content"]}]
        items.append({"type": "reasoning", "id": f"rs_{name}", "summary": summary})
    calls = message.get("tool_calls") or ()
    if message["content"] or not calls:
        content = [{"type": "output_text", "text": message["content"], "annotations": []}]
        told = {"type": "message", "id": f"msg_{name}", "role": "assistant", "status": "completed"}
        items.append({**told, "content": content})
    items += [{"type": "function_call", "call_id": call["id"], **call["function"]} for call in calls]
    return items


TARGET = Target(
    "nemo",
    "NeMo Gym rollouts for NeMo RL: reward and reward_components",
    write,
    settings={"grpo.normalize_rewards": "false"},
    facts=(
        Fact("normalize_rewards", IS_ON, f"{STD}; set it to false"),
        Fact("adv_estimator.name", not_one_of("grpo"), "not a plain group mean; use grpo"),
        Fact("use_leave_one_out_baseline", lambda _: False, ""),
        Fact("reward_scaling.enabled", IS_ON, "clips and rescales the stored reward; set it to false"),
        Fact("reward_shaping.enabled", IS_ON, "takes a length penalty off the stored reward; set it to false"),
    ),
)
