"""The length penalty (method 2.5): whom it may touch, by how much, and what it never does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from engine_data import DEFAULTS, NULL, examples, group_slices, one_group, random_chunk, run, seeds
from hypothesis import given
from hypothesis import strategies as st

from rubrics.rewards.config import LengthConfig
from rubrics.rewards.engine import EngineInputs
from rubrics.rewards.hacks import CONFIRMED
from rubrics.rewards.length import shorten
from rubrics.rewards.product import PASSED
from rubrics.rewards.quantiles import group_quantiles
from rubrics.rewards.segments import Segments

chunks = st.builds(random_chunk, seeds)
lengths = st.builds(
    LengthConfig,
    penalty=st.sampled_from([0.0, 0.2, 0.7, 1.0]),
    quantile=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    tolerance=st.sampled_from([0.0, 0.1]),
    saturation=st.sampled_from([0.3, 1.0]),
    exponent=st.sampled_from([0.5, 1.0, 1.5]),
    gate=st.sampled_from([0.0, 0.5, 0.9]),
)
configs = st.builds(lambda length, routing: replace(DEFAULTS, length=length, routing=routing), lengths,
                    st.sampled_from(["task", "grs"]))  # fmt: skip
FLOORED = {"all": 0, "floored": 0, "taken": 0}


def is_pass(chunk: EngineInputs) -> np.ndarray:
    return (chunk.outcome == PASSED) & (chunk.hack != CONFIRMED)


@examples(300)
@given(chunks, configs)
def test_only_passes_of_groups_above_the_gate_pay(chunk: EngineInputs, config: object) -> None:
    found = run(chunk, config)
    for rows in group_slices(chunk):
        valid = ~np.isnan(found.reward[rows])
        passes = is_pass(chunk)[rows] & valid
        gated = valid.any() and passes.sum() / valid.sum() > config.length.gate
        taken = found.length_penalty[rows]
        assert (taken[valid & ~passes] == 0).all()
        assert gated or (taken[valid] == 0).all()


@examples(300)
@given(chunks, configs)
def test_what_was_taken_is_the_difference_and_at_most_the_penalty_and_the_reward(
    chunk: EngineInputs, config: object
) -> None:
    found = run(chunk, config)
    valid = ~np.isnan(found.reward)
    taken = found.length_penalty[valid]
    np.testing.assert_allclose(found.reward_raw[valid] - taken, found.reward[valid], rtol=0, atol=1e-15)
    assert ((taken >= 0) & (taken <= config.length.penalty) & (taken <= found.reward_raw[valid])).all()
    assert (found.reward[valid] >= 0).all()


@examples(300)
@given(chunks, configs)
def test_the_floor_binds_only_where_the_reward_went_to_0(chunk: EngineInputs, config: object) -> None:
    found = run(chunk, config)
    floored = found.length_floored == 1
    assert (found.reward[floored] == 0).all()
    assert (found.length_penalty[floored] == found.reward_raw[floored]).all()
    FLOORED["all"] += len(floored)
    FLOORED["floored"] += int(floored.sum())
    FLOORED["taken"] += int((found.length_penalty > 0).sum())


def test_the_floor_bound_in_a_good_share_of_the_rows_above() -> None:
    FLOORED.update(all=0, floored=0, taken=0)
    test_the_floor_binds_only_where_the_reward_went_to_0()
    assert FLOORED["floored"] > 0.1 * FLOORED["taken"] > 10, FLOORED


@examples(300)
@given(chunks, configs)
def test_the_penalty_is_that_of_a_plain_computation_group_by_group(chunk: EngineInputs, config: object) -> None:
    found, c = run(chunk, config), config.length
    for rows in group_slices(chunk):
        valid = ~np.isnan(found.reward[rows])
        passes = is_pass(chunk)[rows] & valid
        if not passes.any() or not passes.sum() / valid.sum() > c.gate:
            continue
        excess = np.zeros(passes.sum())
        for measure in chunk.lengths:
            own = measure[rows][passes]
            if np.isnan(own).any() or not np.quantile(own, c.quantile) > 0:
                continue
            over = (own / np.quantile(own, c.quantile) - 1 - c.tolerance) / (c.saturation - c.tolerance)
            excess = np.maximum(excess, np.clip(over, 0, 1))
        wanted = np.minimum(c.penalty * excess**c.exponent, found.reward_raw[rows][passes])
        np.testing.assert_allclose(found.length_penalty[rows][passes], wanted, rtol=0, atol=1e-12)


@examples(200)
@given(seeds, st.sampled_from([0.0, 0.3, 0.5, 0.77, 1.0]))
def test_quantiles_of_ragged_groups_are_those_of_numpy(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 40, size=12)
    groups = Segments.of(np.concatenate(([0], np.cumsum(sizes)[:-1])), int(sizes.sum()))
    values, among = rng.normal(size=sizes.sum()), rng.random(sizes.sum()) < 0.6
    found = group_quantiles(groups, values, among, share)
    for group in range(12):
        own = values[(groups.index == group) & among]
        wanted = np.quantile(own, share) if len(own) else NULL
        np.testing.assert_allclose(found[group], wanted, rtol=0, atol=1e-12)


def test_a_measure_that_one_pass_lacks_does_not_count_in_its_group() -> None:
    assert run(one_group(["passed"] * 3 + ["failed"], turns=[10, NULL, 40, 10])).length_penalty.tolist() == [0] * 4


def test_a_length_that_only_a_failure_lacks_is_no_matter() -> None:
    found = run(one_group(["passed"] * 3 + ["failed"], turns=[10, 10, 20, NULL]))
    assert found.length_penalty.tolist() == [0, 0, 0.2, 0]


def test_lengths_of_0_have_no_reference_and_cost_nothing() -> None:
    assert run(one_group(["passed"] * 3 + ["failed"], turns=[0, 0, 5, 1])).length_penalty.tolist() == [0] * 4


@pytest.mark.parametrize(("passing", "taken"), [(1, 0.0), (2, 0.0), (3, 0.2)])
def test_a_pass_rate_at_the_gate_is_not_above_it(passing: int, taken: float) -> None:
    names = ["passed"] * passing + ["failed"] * (4 - passing)
    turns = [10.0, 20.0, 20.0, 20.0] if passing == 2 else [10.0, 10.0, 20.0, 20.0]
    assert run(one_group(names, turns=turns)).length_penalty.max() == taken


def test_of_several_measures_the_one_that_is_exceeded_most_decides() -> None:
    groups, everyone = Segments.of(np.array([0]), 3), np.ones(3, dtype=bool)
    turns, tokens = np.array([10.0, 10, 15]), np.array([100.0, 200, 100])
    found = shorten(groups, np.ones(3), everyone, everyone, (turns, tokens), LengthConfig())
    np.testing.assert_allclose(found.taken, [0, 0.2, 0.2 * 0.5**1.5])


def test_a_penalty_of_0_takes_nothing() -> None:
    config = replace(DEFAULTS, length=replace(DEFAULTS.length, penalty=0.0))
    assert run(one_group(["passed"] * 3, scores=[(1, 1)] * 3, turns=[1, 1, 9]), config).length_penalty.max() == 0


def test_a_penalty_as_large_as_the_reward_leaves_0_without_the_floor() -> None:
    scores = [(0.2, 1.0), (1.0, 1.0), (1.0, 1.0), (0.1, 1.0)]
    found = run(one_group(["passed"] * 4, scores=scores, turns=[20, 10, 10, 20]))
    assert found.reward.tolist() == [0, 1, 1, 0]
    assert found.length_floored.tolist() == [0, 0, 0, 1]
    assert found.length_penalty.tolist() == [0.2, 0, 0, 0.1]


def test_length_is_looked_at_after_the_reset() -> None:
    """3 of 5 pass, above the gate; one is a hack: 2 of 5, below it."""
    names, turns = ["passed"] * 3 + ["failed"] * 2, [10.0, 10, 20, 10, 10]
    assert run(one_group(names, turns=turns)).length_penalty.max() == 0.2
    reset = run(one_group(names, turns=turns, hacks=["confirmed", "none", "none", "none", "none"]))
    assert reset.length_penalty.max() == 0
