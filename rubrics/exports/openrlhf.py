"""OpenRLHF: JSON lines and a reward function."""

from __future__ import annotations

from collections.abc import Iterable

from rubrics.exports.arithmetic import IS_ON, STD, Fact, not_one_of
from rubrics.exports.samples import Group
from rubrics.exports.target import Output, Target, count_sample, grades, identity


def write(groups: Iterable[Group], output: Output) -> None:
    """`train.jsonl` (input, label, datasource), `reward_function.py`, `lookup.jsonl`."""
    with output.json_lines("train.jsonl") as rows, output.json_lines("lookup.jsonl") as lookup:
        for group in groups:
            for sample in group.samples:
                told = {"input": sample.prompt, "label": sample.rollout_id, "datasource": "rubrics"}
                rows.append([{**told, "output": sample.completion, **identity(sample), **grades(sample)}])
                lookup.append([sample.lookup()])
                count_sample(output, sample)
    output.module("reward_function.py", "openrlhf_reward")


_NOT_A_MEAN = (
    "only dr_grpo and rloo subtract the group's mean and no more (reinforce_baseline whitens the whole batch, "
    "group_norm divides by the group's spread)"
)

TARGET = Target(
    "openrlhf",
    "OpenRLHF: JSON lines (input, label) and a reward function",
    write,
    settings={"--algo.advantage.estimator": "dr_grpo", "--data.input_key": "input", "--data.label_key": "label"},
    facts=(
        Fact("advantage.estimator", not_one_of("dr_grpo", "rloo"), _NOT_A_MEAN),
        Fact("advantage_estimator", not_one_of("dr_grpo", "rloo"), _NOT_A_MEAN),
        Fact("normalize_enable", IS_ON, STD),
        Fact("overlong_buffer_len", IS_ON, "takes a length penalty off the stored reward; leave it out"),
        Fact("stop_properly_penalty_coef", IS_ON, "scales the rewards of truncated rollouts; leave it out"),
    ),
    clips_advantage=True,
)
