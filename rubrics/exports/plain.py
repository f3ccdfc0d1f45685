"""Plain Parquet: every column of the reward table, with prompt and completion."""

from __future__ import annotations

from collections.abc import Iterable

from rubrics.exports.samples import Group
from rubrics.exports.target import Output, Target, count_sample
from rubrics.store.export_rows import Columns, table_columns

COLUMNS: Columns = {
    **table_columns("rewards"),
    "harness": "text",
    "prompt_source": "text",
    "completion_source": "text",
    "prompt": "prompt",
    "completion": "messages",
}


def write(groups: Iterable[Group], output: Output) -> None:
    """`train.parquet`, one row per rollout."""
    with output.parquet("train.parquet", COLUMNS) as rows:
        for group in groups:
            for sample in group.samples:
                told = {name: sample.row.get(name) for name in COLUMNS}
                own = ("prompt_source", "completion_source", "prompt", "completion")
                rows.append([{**told, **{name: getattr(sample, name) for name in own}}])
                count_sample(output, sample)


TARGET = Target(
    "parquet",
    "plain Parquet that `datasets` loads: the reward table's columns, prompt and completion",
    write,
    settings={"reward": "reward_star where the group's mean is subtracted, else advantage as it is"},
)
