"""slime: JSON lines of samples and a custom reward function."""

from __future__ import annotations

from collections.abc import Iterable

from rubrics.exports.arithmetic import IS_OFF, IS_ON, STD, Fact, not_one_of
from rubrics.exports.samples import Group
from rubrics.exports.target import Output, Target, count_sample, grades, identity


def write(groups: Iterable[Group], output: Output) -> None:
    """`train.jsonl` (prompt, label, metadata; reward, status and places as in `Sample`), `reward_function.py`."""
    with output.json_lines("train.jsonl") as rows, output.json_lines("lookup.jsonl") as lookup:
        for group in groups:
            for sample in group.samples:
                status = "truncated" if sample.row["status"] == "truncated" else "completed"
                told = {
                    "prompt": sample.prompt,
                    "label": sample.rollout_id,
                    "metadata": {**identity(sample), **grades(sample)},
                    "group_index": group.number,
                    "index": output.counts["rows"],
                    "reward": sample.reward,
                    "status": status,
                    "completion": sample.completion,
                }
                rows.append([told])
                lookup.append([sample.lookup()])
                count_sample(output, sample)
    output.module("reward_function.py", "slime_reward")


TARGET = Target(
    "slime",
    "slime: JSON lines (prompt, label, metadata) and a custom reward function",
    write,
    settings={"--disable-grpo-std-normalization": "", "--advantage-estimator": "grpo", "--label-key": "label"},
    facts=(
        Fact("grpo_std_normalization", IS_ON, f"{STD}; give --disable-grpo-std-normalization"),
        Fact("disable_grpo_std_normalization", IS_OFF, f"{STD}; give --disable-grpo-std-normalization"),
        Fact("normalize_advantages", IS_ON, f"{STD}; leave it out"),
        Fact("disable_rewards_normalization", IS_ON, "the group's mean would not be subtracted; leave it out"),
        Fact("rewards_normalization", IS_OFF, "the group's mean would not be subtracted; leave it on"),
        Fact("advantage_estimator", not_one_of("grpo", "gspo"), "not a plain group mean; use grpo or gspo"),
    ),
)
