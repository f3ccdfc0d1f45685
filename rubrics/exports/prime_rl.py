"""prime-rl: JSON lines of rollouts as verifiers saves them, and a custom advantage function."""

from __future__ import annotations

from collections.abc import Iterable

from rubrics.exports.arithmetic import IS_ON, Fact, not_one_of
from rubrics.exports.samples import Group, Sample
from rubrics.exports.target import Output, Target, count_sample, grades, identity

_METRICS = ("test", "solution", "behavior", "advantage")


def write(groups: Iterable[Group], output: Output) -> None:
    """`rollouts.jsonl` (example_id, prompt, completion, reward, info, metrics), `advantage.py`, `lookup.jsonl`."""
    with output.json_lines("rollouts.jsonl") as rows, output.json_lines("lookup.jsonl") as lookup:
        for group in groups:
            for sample in group.samples:
                rows.append([_row(group, sample)])
                lookup.append([sample.lookup()])
                count_sample(output, sample)
    output.module("advantage.py", "prime_rl_advantage")


def _row(group: Group, sample: Sample) -> dict[str, object]:
    told = grades(sample)
    return {
        "example_id": group.number,
        "task": sample.row["task_id"],
        "prompt": sample.prompt,
        "completion": sample.completion,
        "answer": "",
        "reward": sample.reward,
        "metrics": {name: told[name] for name in _METRICS},
        "info": {**identity(sample), **told},
        "is_completed": True,
        "is_truncated": sample.row["status"] == "truncated",
        "stop_condition": sample.row["exit_status"],
        "error": None,
    }


_SHAPING = ("length_penalty", "length_shaping", "length_weighted_mean", "length_weighted_baseline")
"""Names of the same thing in prime-rl's releases."""

TARGET = Target(
    "prime-rl",
    "prime-rl: rollouts as verifiers saves them, and a custom advantage function",
    write,
    settings={"advantage.type": "default, or custom with import_path advantage.stored_advantage"},
    facts=(
        *(Fact(name, IS_ON, "shapes by length once more; leave it out") for name in _SHAPING),
        Fact("advantage.type", not_one_of("default", "grpo", "custom"), "not a plain group mean; use the default"),
    ),
)
