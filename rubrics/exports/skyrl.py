"""SkyRL: Parquet rows and an environment that scores a completion by its stored reward."""

from __future__ import annotations

from collections.abc import Iterable

from rubrics.exports.arithmetic import IS_ON, STD, Fact, not_one_of
from rubrics.exports.samples import Group
from rubrics.exports.target import GRADES, IDENTITY, Output, Target, count_sample, grades, identity
from rubrics.store.export_rows import Columns

_COLUMNS: Columns = {
    "prompt": "prompt",
    "env_class": "text",
    "reward_spec": {"method": "text", "ground_truth": "text"},
    "instance_id": "text",
    "repetition_id": "int",
    **IDENTITY,
    **GRADES,
    "completion": "messages",
}


def write(groups: Iterable[Group], output: Output) -> None:
    """`train.parquet`, `rubrics_env.py`, `lookup.jsonl`. What is neither prompt nor env_class becomes env_extras."""
    with output.parquet("train.parquet", _COLUMNS) as rows, output.json_lines("lookup.jsonl") as lookup:
        for group in groups:
            for number, sample in enumerate(group.samples):
                told = {
                    "prompt": sample.prompt,
                    "env_class": "rubrics",
                    "reward_spec": {"method": "rubrics", "ground_truth": sample.rollout_id},
                    "instance_id": group.group_id,
                    "repetition_id": number,
                    "completion": sample.completion,
                }
                rows.append([{**told, **identity(sample), **grades(sample)}])
                lookup.append([sample.lookup()])
                count_sample(output, sample)
    output.module("rubrics_env.py", "skyrl_env")


_ALTERS = "alters the stored reward; set it to false"

TARGET = Target(
    "skyrl",
    "SkyRL: Parquet rows and the environment `rubrics`",
    write,
    settings={"trainer.algorithm.grpo_norm_by_std": "false", "trainer.algorithm.advantage_estimator": "grpo"},
    facts=(
        Fact("grpo_norm_by_std", IS_ON, f"{STD}; set it to false"),
        Fact("advantage_batch_normalize", IS_ON, f"{STD}; set it to false"),
        Fact("advantage_estimator", not_one_of("grpo", "rloo"), "not a plain group mean; use grpo or rloo"),
        Fact("use_kl_in_reward", IS_ON, _ALTERS),
        Fact("zero_reward_on_non_stop", IS_ON, _ALTERS),
    ),
)
