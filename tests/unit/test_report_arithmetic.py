"""Lines of the arithmetic on every route of the method, from reward rows alone; and figures of the whole report."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from report_store import Attempt, make_store

from rubrics.errors import StoreError
from rubrics.records.rubrics import Criterion
from rubrics.report.arithmetic import reward_lines
from rubrics.report.charts import histogram
from rubrics.report.numbers import number
from rubrics.report.write import write_report

ROW = {
    "rollout_id": "r", "rewarded": True, "duplicate_of": None, "status": "ok", "failure_class": None, "test": 1.0,
    "solution": 0.9, "behavior": 0.8, "hack": None, "route": "grs", "factors": ["solution", "behavior"],
    "reward_raw": 0.72, "length_penalty": 0.0, "length_floored": False, "reward": 0.72, "group_size": 2,
    "group_mean": 0.485, "kept": True, "drop_reason": None, "advantage_base": 0.235, "scale": None, "capped": None,
    "quality_factor": None, "tier": None, "rank": None, "advantage": 0.235, "engine_version": "2",
}  # fmt: skip


def lines(group: list[float], **changes: Any) -> list[str]:
    return reward_lines({**ROW, **changes}, group)


def test_the_all_pass_pair_of_the_method() -> None:
    assert lines([0.72, 0.25]) == [
        "reward = test x solution x behavior = 1 x 0.9 x 0.8 = 0.72",
        "group mean = (0.72 + 0.25) / 2 = 0.485 over 2 valid of 2 rollouts",
        "advantage = reward - group mean = 0.72 - 0.485 = 0.235",
    ]


def test_a_capped_redistribution_is_re_centred() -> None:
    gar = {"route": "gar", "reward_raw": 1.0, "reward": 1.0, "group_size": 4, "group_mean": 0.5, "advantage_base": 0.5}
    group = [1.0, 1.0, 0.0, 0.0]
    found = lines(group, **gar, scale=1.5, capped=True, quality_factor=0.2, tier=3, rank=2, advantage=0.175)
    assert found[0] == "reward = test = 1: route gar ranks the passes and does not multiply their scores"
    assert found[3:] == [
        "advantage before re-centring = scale x quality factor x 0.5 = 1.5 x 0.2 x 0.5 = 0.15 (tier 3, rank 2)",
        "advantage = 0.15 - -0.025 = 0.175: the scale is capped, so the group's mean is subtracted again",
    ]


def test_a_failure_keeps_its_advantage_where_passes_are_ranked() -> None:
    failed = {"test": 0.0, "reward_raw": 0.0, "reward": 0.0, "group_mean": 0.5, "advantage_base": -0.5, "scale": 1.2}
    assert lines([1.0, 0.0], **failed, advantage=-0.5, capped=False, route="gar")[-1].startswith("advantage = -0.5: ")


def test_a_confirmed_hack_is_zero_though_the_tests_passed() -> None:
    hack = {"hack": "confirmed", "reward_raw": 0.0, "reward": 0.0, "group_mean": 0.36, "advantage_base": -0.36}
    assert "a confirmed hack" in lines([0.72, 0.0], **hack, advantage=-0.36)[0]


def test_a_length_penalty_is_a_line_of_its_own() -> None:
    short = {"length_penalty": 0.72, "length_floored": True, "reward": 0.0, "group_mean": 0.125}
    found = lines([0.0, 0.25], **short, advantage_base=-0.125, advantage=-0.125)
    assert found[0] == "reward before length = test x solution x behavior = 1 x 0.9 x 0.8 = 0.72"
    assert found[1].startswith("reward = reward before length - length penalty = 0.72 - 0.72 = 0; more would have")


def test_other_estimators_say_what_they_divide_by() -> None:
    assert "x n / (n - 1)" in lines([0.72, 0.25], advantage_base=0.47, advantage=0.47)[-1]
    assert (
        "/ standard deviation = (0.72 - 0.485) / 0.332333"
        in lines([0.72, 0.25], advantage_base=0.235 / 0.332333, advantage=0.235 / 0.332333)[-1]
    )


@pytest.mark.parametrize("name", ["reward_raw", "reward", "group_mean", "advantage"])
def test_a_stored_number_that_does_not_follow_is_refused(name: str) -> None:
    with pytest.raises(StoreError, match=r"run `rubrics reward`"):
        lines([0.72, 0.25], **{name: 0.3})


def test_the_mean_of_many_is_a_sum() -> None:
    assert "sum 10 / 20 = 0.5 over 20 valid" in lines([0.5] * 20, **{"reward_raw": 0.72, "group_mean": 0.5,
        "advantage_base": 0.22, "advantage": 0.22})[1]  # fmt: skip


def test_numbers_have_six_decimals_at_most() -> None:
    assert [number(value) for value in (1.0, -0.0000001, 1 / 3, 1e-6)] == ["1", "0", "0.333333", "0.000001"]


def test_a_column_that_is_too_high_shrinks_all() -> None:
    chart = histogram([(0.0, False)] * 10 + [(1.0, True)], 4, 40, 20, 7)
    assert chart.fails == "M0 20v-20h9v20z"
    assert chart.passes == "M30 20v-2h9v2z"
    assert chart.words == "11 rewards from 0 to 1: 1 passed, passes from 1.000 to 1.000, 10 not passed"


def test_a_report_is_the_same_each_time_and_holds_less_than_3_kB_per_rollout(tmp_path: Path) -> None:
    chance = random.Random(0)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz_", k=chance.randint(2, 9))) for _ in range(4000)]
    criteria = [
        Criterion(f"c-{i:02d}", f"Criterion {i}.", 1, "rule", "1.0", evidence=("lines_added",)) for i in range(15)
    ]
    rubrics = {(f"task-{task}", "solution"): criteria for task in range(40)}
    attempts = [
        Attempt(
            task,
            f"run-{run}",
            chance.choice(["passed", "failed"]),
            {"solution": [chance.random() for _ in criteria]},
            " ".join(chance.choices(words, k=400))[:2000],
            facts={"lines_added": run},
        )
        for task, _ in rubrics
        for run in range(10)
    ]
    store = make_store(tmp_path / "store", attempts, rubrics, factors=("solution",))
    first = write_report(store).read_bytes()
    assert len(first) < 3000 * len(attempts)
    assert write_report(store).read_bytes() == first
