"""The arithmetic of one reward, line by line, in the numbers that the reward table holds (method 2). Pure.

Every number is checked: what a line says must be the stored value, to within `CLOSE`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from rubrics.errors import StoreError
from rubrics.records.rubrics import KINDS
from rubrics.report.numbers import number

CLOSE = 1e-9
"""A number computed again may differ from the stored one by this much."""
_LISTED = 16
_MASKS = {
    "infra": "the model's endpoint, the environment or the harness broke ({})",
    "unknown": "nobody says whether the tests passed ({})",
    "ungraded": "a pass without a score that its route needs ({})",
}
_DROPS = {
    "too_few_valid": "fewer than 2 of its rollouts have a reward",
    "equal_rewards": "all its rewards are equal, which carries no signal",
    "one_outcome": "its route ranks passes above failures, and it has only one of the two",
}


def reward_lines(row: Mapping[str, Any], group: Sequence[float]) -> list[str]:
    """From scores to advantage; `group` holds the valid rewards of the row's group."""
    if not row["rewarded"]:
        copy = row["duplicate_of"]
        why = (
            f"left out as a repeat of {copy}, or `rubrics reward` has not run since" if copy else "run `rubrics reward`"
        )
        return [f"reward = none: the reward table has no row for this rollout: {why}"]
    return [*_reward(row), _mean(row, group), *_advantage(row, len(group))]


def _reward(row: Mapping[str, Any]) -> list[str]:
    if row["reward"] is None:
        why = _MASKS.get(row["status"], "{}").format(row["failure_class"])
        return [f"reward = none: status {row['status']} masks this row: {why}; it is outside the group, not 0"]
    taken = row["length_penalty"] or 0.0
    _check(row, "reward", row["reward_raw"] - taken)
    if not taken:
        return [_raw("reward", row)]
    floor = "; more would have been taken, but a pass never falls below 0" if row["length_floored"] else ""
    numbers = f"{number(row['reward_raw'])} - {number(taken)} = {number(row['reward'])}"
    return [_raw("reward before length", row), f"reward = reward before length - length penalty = {numbers}{floor}"]


def _raw(name: str, row: Mapping[str, Any]) -> str:
    if row["test"] == 0 or row["hack"] == "confirmed":
        _check(row, "reward_raw", 0.0)
        if row["test"]:
            return f"{name} = 0: the tests passed, but a confirmed hack sets the reward to 0"
        cut = f" (cut off: {row['failure_class']})" if row["status"] == "truncated" else ""
        return f"{name} = 0: the tests did not pass{cut}, so test = 0 and the product is 0 whatever the scores"
    if row["route"] != "grs":
        _check(row, "reward_raw", row["test"])
        how = "ranks the passes and does not multiply" if row["route"] == "gar" else "does not multiply"
        return f"{name} = test = {number(row['test'])}: route {row['route']} {how} their scores"
    names = _factors(row)
    _check(row, "reward_raw", prod(row[item] for item in names))
    values = " x ".join(number(row[item]) for item in names)
    return f"{name} = {' x '.join(names)} = {values}{'' if len(names) == 1 else ' = ' + number(row['reward_raw'])}"


def _factors(row: Mapping[str, Any]) -> list[str]:
    """What the product multiplied: the configured scores; one that a pass lacks is of a rubric without criteria."""
    return ["test", *(kind for kind in KINDS if kind in (row["factors"] or KINDS) and row[kind] is not None)]


def _mean(row: Mapping[str, Any], group: Sequence[float]) -> str:
    if not group:
        return "group mean = none: no rollout of the group has a reward"
    _check(row, "group_mean", sum(group) / len(group))
    shown = f"({' + '.join(map(number, group))})" if len(group) <= _LISTED else f"sum {number(sum(group))}"
    n = f"over {len(group)} valid of {row['group_size']} rollouts"
    return f"group mean = {shown} / {len(group)} = {number(row['group_mean'])} {n}"


def _advantage(row: Mapping[str, Any], n: int) -> list[str]:
    if not row["kept"]:
        return [f"advantage = none: the group is dropped ({row['drop_reason']}): {_DROPS.get(row['drop_reason'], '')}"]
    if row["reward"] is None:
        return ["advantage = none: the row has no reward"]
    moved = row["scale"] is not None
    base = _base("advantage before ranking" if moved else "advantage", row, n)
    if not moved:
        _check(row, "advantage", row["advantage_base"])
        return [base]
    return [base, *_moved(row)]


def _base(name: str, row: Mapping[str, Any], n: int) -> str:
    deviation, base = row["reward"] - row["group_mean"], row["advantage_base"]
    numbers = f"{number(row['reward'])} - {number(row['group_mean'])}"
    if abs(deviation - base) <= CLOSE:
        return f"{name} = reward - group mean = {numbers} = {number(base)}"
    if n > 1 and abs(deviation * n / (n - 1) - base) <= CLOSE:
        return f"{name} = (reward - group mean) x n / (n - 1) = ({numbers}) x {n} / {n - 1} = {number(base)}"
    spread = number(deviation / base) if base else "the spread"
    return f"{name} = (reward - group mean) / standard deviation = ({numbers}) / {spread} = {number(base)}"


def _moved(row: Mapping[str, Any]) -> list[str]:
    """Redistribution among the passes (method 2.8), re-centred where the cap binds."""
    base, final = row["advantage_base"], row["advantage"]
    name = "advantage before re-centring" if row["capped"] else "advantage"
    gains = row["test"] == 1 and row["hack"] != "confirmed" and base > 0
    shifted = row["scale"] * row["quality_factor"] * base if gains else base
    if gains:
        numbers = " x ".join(map(number, (row["scale"], row["quality_factor"], base)))
        tier = f" (tier {row['tier']}, rank {row['rank']})" if row["tier"] is not None else " (not ranked)"
        lines = [f"{name} = scale x quality factor x {number(base)} = {numbers} = {number(shifted)}{tier}"]
    else:
        lines = [f"{name} = {number(base)}: ranking moves advantage among passes above the mean only"]
    if row["capped"]:
        numbers = f"{number(shifted)} - {number(shifted - final)} = {number(final)}"
        lines.append(f"advantage = {numbers}: the scale is capped, so the group's mean is subtracted again")
    else:
        _check(row, "advantage", shifted)
    return lines


def _check(row: Mapping[str, Any], name: str, found: float) -> None:
    if row[name] is None or abs(row[name] - found) > CLOSE:
        raise StoreError(
            f"rollout {row['rollout_id']}: the reward table holds {name} {row[name]}, the tables give {found} "
            f"(engine {row['engine_version']}): run `rubrics reward`"
        )
