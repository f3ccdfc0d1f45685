"""Preference pairs: chosen and rejected of one group and one prompt, with the margin between their rewards."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from rubrics.exports.samples import Group, Sample
from rubrics.exports.target import Output, Target
from rubrics.store.export_rows import Columns

TIE = 1e-9
"""Rewards that differ by no more are equal (method, section 1)."""

_COLUMNS: Columns = {
    "prompt": "prompt", "chosen": "messages", "rejected": "messages", "margin": "float", "task_id": "text",
    "group_id": "text", "source_group": "text", "chosen_id": "text", "rejected_id": "text", "chosen_source_id": "text",
    "rejected_source_id": "text", "chosen_reward": "float", "rejected_reward": "float", "config_digest": "text",
}  # fmt: skip


def write(groups: Iterable[Group], output: Output) -> None:
    """`train.parquet`, at most `max_pairs` pairs a group, the widest margins first."""
    with output.parquet("train.parquet", _COLUMNS) as rows:
        for group in groups:
            pairs = sorted(_pairs(group, output), key=_widest_first)
            output.counts["over_max_pairs"] += max(0, len(pairs) - output.limits.max_pairs)
            for better, worse in pairs[: output.limits.max_pairs]:
                output.counts["rows"] += 1
                rows.append(
                    [
                        {
                            "prompt": better.prompt, "chosen": better.completion, "rejected": worse.completion,
                            "margin": better.reward - worse.reward, "task_id": better.row["task_id"],
                            "group_id": group.group_id, "source_group": group.source_group,
                            "chosen_id": better.rollout_id, "rejected_id": worse.rollout_id,
                            "chosen_source_id": better.row["source_id"], "rejected_source_id": worse.row["source_id"],
                            "chosen_reward": better.reward, "rejected_reward": worse.reward,
                            "config_digest": better.row["config_digest"],
                        }
                    ]
                )  # fmt: skip


def _pairs(group: Group, output: Output) -> Iterable[tuple[Sample, Sample]]:
    """Pairs worth showing; what is left out is counted by its reason."""
    for one, other in combinations(group.samples, 2):
        better, worse = (one, other) if one.reward >= other.reward else (other, one)
        margin = better.reward - worse.reward
        if margin <= TIE:
            output.counts["tied"] += 1
        elif margin < output.limits.min_margin:
            output.counts["below_min_margin"] += 1
        elif one.prompt != other.prompt:
            output.counts["prompts_differ"] += 1
        elif not (one.completion and other.completion):
            output.counts["without_completion"] += 1
        elif one.completion == other.completion:
            output.counts["same_completion"] += 1
        else:
            yield better, worse


def _widest_first(pair: tuple[Sample, Sample]) -> tuple[float, str, str]:
    better, worse = pair
    return (worse.reward - better.reward, better.rollout_id, worse.rollout_id)


TARGET = Target(
    "preferences",
    "preference pairs (prompt, chosen, rejected, margin) for DPO and reward models",
    write,
    computes_advantages=False,
)
