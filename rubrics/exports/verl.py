"""verl: Parquet rows, a custom reward function, an advantage estimator for the stored advantages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rubrics.exports.arithmetic import IS_ON, STD, Fact, not_one_of
from rubrics.exports.samples import Group, Sample
from rubrics.exports.target import Output, Target, count_sample
from rubrics.store.export_rows import Columns

_COLUMNS: Columns = {
    "data_source": "text",
    "prompt": "prompt",
    "ability": "text",
    "reward_model": {"style": "text", "ground_truth": "text"},
    "extra_info": {
        "split": "text", "index": "int", "rollout_id": "text", "group_id": "text", "task_id": "text",
        "source_id": "text", "source_group": "text", "reward": "float", "advantage": "float",
    },
    "uid": "text",
    "completion": "messages",
}  # fmt: skip


def write(groups: Iterable[Group], output: Output) -> None:
    """`train.parquet`, `reward_function.py`, `rubrics_stored.py`, `lookup.jsonl`."""
    with output.parquet("train.parquet", _COLUMNS) as rows, output.json_lines("lookup.jsonl") as lookup:
        for group in groups:
            for sample in group.samples:
                rows.append([_row(sample, output.counts["rows"])])
                lookup.append([sample.lookup()])
                count_sample(output, sample)
    output.module("reward_function.py", "verl_reward")
    output.module("rubrics_stored.py", "verl_estimator")


def _row(sample: Sample, index: int) -> dict[str, Any]:
    row = sample.row
    return {
        "data_source": "rubrics",
        "prompt": sample.prompt,
        "ability": "code",
        "reward_model": {"style": "rule", "ground_truth": sample.rollout_id},
        "extra_info": {
            "split": "train", "index": index, "rollout_id": sample.rollout_id, "group_id": row["group_id"],
            "task_id": row["task_id"], "source_id": row["source_id"], "source_group": row["source_group"],
            "reward": sample.reward, "advantage": sample.advantage,
        },
        "uid": row["group_id"],
        "completion": sample.completion,
    }  # fmt: skip


_MEANS = ("grpo", "grpo_vectorized", "rloo", "rloo_vectorized", "rubrics_stored")

TARGET = Target(
    "verl",
    "verl: Parquet rows, custom reward function, estimator `rubrics_stored` for the stored advantages",
    write,
    settings={"algorithm.norm_adv_by_std_in_grpo": "False", "algorithm.use_kl_in_reward": "False"},
    facts=(
        Fact("norm_adv_by_std_in_grpo", IS_ON, f"{STD}; set it to False"),
        Fact("adv_estimator", not_one_of(*_MEANS), f"not a plain group mean; use one of {', '.join(_MEANS)}"),
        Fact("use_kl_in_reward", IS_ON, "takes a penalty off the stored reward before the mean; set it to False"),
        Fact("overlong_buffer_cfg.enable", IS_ON, "takes a length penalty off the stored reward; set it to False"),
    ),
)
