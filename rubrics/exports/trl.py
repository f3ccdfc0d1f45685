"""TRL: a folder for `datasets`, a reward function, and a `rollout_func` that replays the stored rollouts."""

from __future__ import annotations

from collections.abc import Iterable

from rubrics.exports.arithmetic import STD, Fact, not_one_of, one_of
from rubrics.exports.samples import Group
from rubrics.exports.target import GRADES, IDENTITY, Output, Target, count_sample, grades, identity

_CARD = """---
configs:
- config_name: prompts
  default: true
  data_files:
  - split: train
    path: prompts.parquet
- config_name: rollouts
  data_files:
  - split: train
    path: rollouts.parquet
---

Made by `rubrics export --to trl`. `prompts`: one row per group, for GRPOTrainer. `rollouts`: one row per rollout.
Largest group: {largest} rollouts.
Set `num_generations` to at least that, `scale_rewards="none"` and `loss_type="dr_grpo"`.
"""


def write(groups: Iterable[Group], output: Output) -> None:
    """`prompts.parquet`, `rollouts.parquet`, `rewards.py`, `replay.py`, `lookup.jsonl` and a dataset card."""
    prompt_columns = {
        "prompt": "prompt", "group_id": "text", "source_group": "text", "task_id": "text", "rollouts": "int",
    }  # fmt: skip
    rollout_columns = {"prompt": "prompt", "completion": "messages", **IDENTITY, **GRADES}
    largest = 0
    with (
        output.parquet("prompts.parquet", prompt_columns) as prompts,
        output.parquet("rollouts.parquet", rollout_columns) as rollouts,
        output.json_lines("lookup.jsonl") as lookup,
    ):
        for group in groups:
            size = len(group.samples)
            largest = max(largest, size)
            task = group.samples[0].row["task_id"]
            told = {"group_id": group.group_id, "source_group": group.source_group, "task_id": task, "rollouts": size}
            prompts.append([{"prompt": group.prompt, **told}])
            for sample in group.samples:
                said = {"prompt": sample.prompt, "completion": sample.completion}
                rollouts.append([{**said, **identity(sample), **grades(sample)}])
                lookup.append([sample.lookup()])
                count_sample(output, sample)
    output.counts["largest_group"] = largest
    output.module("rewards.py", "trl_rewards")
    output.module("replay.py", "trl_replay")
    output.text("README.md", _CARD.format(largest=largest))


TARGET = Target(
    "trl",
    "TRL GRPOTrainer: datasets folder, reward function, replay of stored rollouts",
    write,
    settings={"scale_rewards": "none", "loss_type": "dr_grpo", "num_generations": "at least largest_group"},
    facts=(
        Fact("scale_rewards", not_one_of("none", "false"), f"{STD}; set scale_rewards='none'"),
        Fact("multi_objective_aggregation", one_of("normalize_then_sum"), f"{STD}; set 'sum_then_normalize'"),
    ),
)
