"""The whole engine over random chunks: masks, order, resets, filter, and that nothing depends on neighbours."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from engine_data import (
    DEFAULTS,
    NO_LENGTH,
    NULL,
    assert_same,
    examples,
    group_slices,
    one_group,
    random_chunk,
    reordered,
    run,
    seeds,
)
from hypothesis import given
from hypothesis import strategies as st

from rubrics.rewards.engine import EngineInputs, EngineOutputs
from rubrics.rewards.filtering import ALL_EQUAL, KEPT, ONE_OUTCOME, TOO_FEW
from rubrics.rewards.hacks import CONFIRMED, NONE, NOT_AUDITED
from rubrics.rewards.product import FAILED, INFRA, PASSED, STATUSES, TRUNCATED, UNGRADED, UNKNOWN
from rubrics.rewards.ranking import UNRANKED, UNUSABLE, USED
from rubrics.rewards.routing import GAR, GRS, PLAIN
from rubrics.rewards.segments import Segments

chunks = st.builds(random_chunk, seeds)
configs = st.sampled_from([DEFAULTS, replace(DEFAULTS, routing="group"), replace(DEFAULTS, routing="grs"), NO_LENGTH])
NULLED = ("reward_raw", "reward", "length_penalty", "advantage_base", "advantage", "reward_star")


@examples(200)
@given(chunks, configs)
def test_masked_rows_are_null_and_never_0(chunk: EngineInputs, config: object) -> None:
    found = run(chunk, config)
    masked = np.isin(chunk.outcome, (INFRA, UNKNOWN)) | (found.status == UNGRADED)
    for name in NULLED:
        assert np.isnan(getattr(found, name)[masked]).all(), name
    assert not np.isnan(found.reward[~masked]).any()
    assert (found.length_floored[masked] == -1).all()
    assert np.isnan(found.test[np.isin(chunk.outcome, (INFRA, UNKNOWN))]).all()


@examples(200)
@given(chunks, configs)
def test_a_masked_row_counts_in_no_statistic_of_its_group(chunk: EngineInputs, config: object) -> None:
    """Without the masked rows every other row has the same numbers, the size of its group apart."""
    found = run(chunk, config)
    keep = np.flatnonzero(~np.isnan(found.reward))
    groups = Segments.of(chunk.group_starts, len(chunk.outcome)).index[keep]
    tasks = Segments.of(chunk.task_starts, len(chunk.outcome)).index[keep]
    known = np.isin(chunk.outcome, (PASSED, FAILED, TRUNCATED))
    if not len(keep) or (config.routing != "grs" and (known & np.isnan(found.reward)).any()):
        return
    inside = np.isin(chunk.rankings.row, keep)
    rankings = type(chunk.rankings)(*(getattr(chunk.rankings, item.name)[inside] for item in fields(chunk.rankings)))
    less = _only(replace(chunk, rankings=rankings), keep, groups, tasks)
    again = run(less, config)
    for item in fields(EngineOutputs):
        if item.name != "group_size":
            np.testing.assert_allclose(
                getattr(again, item.name), getattr(found, item.name)[keep], rtol=0, atol=1e-12, err_msg=item.name
            )


def _only(chunk: EngineInputs, keep: np.ndarray, groups: np.ndarray, tasks: np.ndarray) -> EngineInputs:
    place = np.full(len(chunk.outcome), -1)
    place[keep] = np.arange(len(keep))
    return EngineInputs(
        np.flatnonzero(np.diff(groups, prepend=-1)),
        np.flatnonzero(np.diff(tasks, prepend=-1)),
        chunk.outcome[keep],
        chunk.hack[keep],
        tuple((applies[keep], score[keep]) for applies, score in chunk.factors),
        tuple(length[keep] for length in chunk.lengths),
        replace(chunk.rankings, row=place[chunk.rankings.row]),
        chunk.repeat_spread[keep],
    )


@examples(200)
@given(chunks, configs, seeds)
def test_the_order_of_rows_in_a_group_and_of_groups_does_not_matter(
    chunk: EngineInputs, config: object, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rows = len(chunk.outcome)
    tasks, groups = Segments.of(chunk.task_starts, rows).index, Segments.of(chunk.group_starts, rows).index
    new_task = rng.permutation(tasks.max() + 1)[tasks]
    new_group = rng.permutation(groups.max() + 1)[groups]
    order = np.lexsort((rng.random(rows), new_group, new_task))
    shuffled = reordered(
        chunk,
        order,
        np.flatnonzero(np.diff(new_group[order], prepend=-1)),
        np.flatnonzero(np.diff(new_task[order], prepend=-1)),
    )
    found, again = run(chunk, config), run(shuffled, config)
    for item in fields(EngineOutputs):
        np.testing.assert_allclose(
            getattr(again, item.name), getattr(found, item.name)[order], rtol=0, atol=1e-12, err_msg=item.name
        )


@examples(200)
@given(chunks, configs)
def test_a_task_computed_alone_is_the_same_as_in_a_chunk(chunk: EngineInputs, config: object) -> None:
    found = run(chunk, config)
    ends = [*chunk.task_starts[1:], len(chunk.outcome)]
    for start, end in zip(chunk.task_starts, ends, strict=True):
        rows = np.arange(start, end)
        inside = (chunk.rankings.row >= start) & (chunk.rankings.row < end)
        rankings = type(chunk.rankings)(
            *(getattr(chunk.rankings, item.name)[inside] for item in fields(chunk.rankings))
        )
        groups = Segments.of(chunk.group_starts, len(chunk.outcome)).index[rows]
        alone = run(_only(replace(chunk, rankings=rankings), rows, groups, np.zeros(len(rows))), config)
        for item in fields(EngineOutputs):
            np.testing.assert_allclose(
                getattr(alone, item.name), getattr(found, item.name)[rows], rtol=0, atol=1e-12, err_msg=item.name
            )


@examples(200)
@given(chunks, configs)
def test_kept_groups_sum_to_0_and_dropped_ones_are_null(chunk: EngineInputs, config: object) -> None:
    found = run(chunk, config)
    for rows in group_slices(chunk):
        values = found.advantage[rows]
        if found.kept[rows][0]:
            assert abs(np.nansum(values)) <= 1e-9
            assert np.isfinite(values[~np.isnan(found.reward[rows])]).all()
        else:
            assert np.isnan(values).all()
            assert np.isnan(found.reward_star[rows]).all()


@examples(200)
@given(chunks, configs)
def test_the_twin_of_every_kept_group_gives_its_advantages_back(chunk: EngineInputs, config: object) -> None:
    found = run(chunk, config)
    for rows in group_slices(chunk):
        if found.kept[rows][0]:
            star = found.reward_star[rows]
            np.testing.assert_allclose(star - np.nanmean(star), found.advantage[rows], rtol=0, atol=1e-9)


@examples(200)
@given(chunks, configs)
def test_routes_grs_and_plain_leave_advantage_and_reward_as_they_are(chunk: EngineInputs, config: object) -> None:
    found = run(chunk, config)
    rows = found.kept & (found.route != GAR)
    np.testing.assert_array_equal(found.advantage[rows], found.advantage_base[rows])
    np.testing.assert_array_equal(found.reward_star[rows], found.reward[rows])
    for name in ("scale", "scale_uncapped", "mass_before", "mass_after", "quality_factor"):
        assert np.isnan(getattr(found, name)[rows]).all()
    assert (found.capped[rows] == -1).all()
    assert (found.ranking[rows] == UNRANKED).all()


@examples(200)
@given(chunks, configs)
def test_what_is_no_pass_after_the_reset_has_reward_0_whatever_its_scores(chunk: EngineInputs, config: object) -> None:
    found = run(chunk, config)
    known = np.isin(chunk.outcome, (PASSED, FAILED, TRUNCATED))
    lost = known & ((chunk.outcome != PASSED) | (chunk.hack == CONFIRMED))
    assert (found.reward[lost] == 0).all()
    assert (found.status[lost] != UNGRADED).all()
    assert (found.tier[lost] == -1).all()


@examples(200)
@given(chunks, configs)
def test_no_pass_has_a_lower_advantage_than_a_failure(chunk: EngineInputs, config: object) -> None:
    found = run(chunk, config)
    passes = (chunk.outcome == PASSED) & (chunk.hack != CONFIRMED)
    for rows in group_slices(chunk):
        good, bad = found.advantage[rows][passes[rows]], found.advantage[rows][~passes[rows]]
        if found.kept[rows][0] and np.isfinite(good).any() and np.isfinite(bad).any():
            assert np.nanmin(good) >= np.nanmax(bad)


@examples(200)
@given(chunks, configs)
def test_a_pass_is_ungraded_exactly_when_a_factor_that_its_route_multiplies_is_null(
    chunk: EngineInputs, config: object
) -> None:
    found = run(chunk, config)
    lacking = np.zeros(len(chunk.outcome), dtype=bool)
    for applies, score in chunk.factors:
        lacking |= applies & np.isnan(score)
    passes = (chunk.outcome == PASSED) & (chunk.hack != CONFIRMED)
    np.testing.assert_array_equal(found.status == UNGRADED, lacking & passes & (found.route == GRS))


@examples(200)
@given(chunks)
def test_the_route_of_a_task_is_that_of_all_its_groups_together(chunk: EngineInputs) -> None:
    found = run(chunk)
    known = np.isin(chunk.outcome, (PASSED, FAILED, TRUNCATED))
    passes = (chunk.outcome == PASSED) & (chunk.hack != CONFIRMED)
    ends = [*chunk.task_starts[1:], len(chunk.outcome)]
    for start, end in zip(chunk.task_starts, ends, strict=True):
        k, n = passes[start:end].sum(), known[start:end].sum()
        wanted = PLAIN if k == 0 else GRS if k / n >= 0.8 else GAR
        assert set(found.route[start:end]) == {wanted}


def test_a_route_per_group_may_differ_within_a_task() -> None:
    chunk = random_chunk(1)
    two = one_group(["passed"] * 4 + ["failed"] * 4, scores=[(1.0, 1.0)] * 8)
    two = replace(two, group_starts=np.array([0, 4]))
    assert run(two).route.tolist() == [GAR] * 8
    assert run(two, replace(DEFAULTS, routing="group")).route.tolist() == [GRS] * 4 + [PLAIN] * 4
    assert set(run(chunk, replace(DEFAULTS, routing="grs")).route) == {GRS}


def test_a_confirmed_hack_counts_as_a_failure_when_the_route_is_told() -> None:
    """4 of 5 pass, which is graded; one of them is a hack: 3 of 5, which is ranked."""
    names, scores = ["passed"] * 4 + ["failed"], [(0.5, 1.0)] * 5
    assert set(run(one_group(names, scores=scores)).route) == {GRS}
    assert set(run(one_group(names, scores=scores, hacks=["none", "confirmed", "none", "none", "none"])).route) == {GAR}


def test_a_pass_without_a_score_still_counts_when_the_route_is_told() -> None:
    found = run(one_group(["passed"] * 4 + ["failed"], scores=[(NULL, 1.0), *[(1.0, 1.0)] * 4]))
    assert set(found.route) == {GRS}
    assert found.status[0] == UNGRADED
    assert found.group_valid[0] == 4


def test_gar_never_needs_a_score() -> None:
    found = run(one_group(["passed", "failed", "passed", "failed"]), NO_LENGTH)
    assert set(found.status) == {STATUSES.index("ok")}
    np.testing.assert_allclose(found.advantage, [0.5, -0.5, 0.5, -0.5])


def test_only_a_pass_can_be_a_hack_and_a_suspicion_resets_nothing() -> None:
    found = run(one_group(["passed", "failed", "passed"], hacks=["suspected", "confirmed", None]), NO_LENGTH)
    assert found.hack.tolist() == [1, NONE, NOT_AUDITED]
    assert found.reward.tolist() == [1, 0, 1]


def test_a_truncated_rollout_is_a_failure_that_counts() -> None:
    found = run(one_group(["passed", "truncated", "failed"]), NO_LENGTH)
    assert found.group_valid.tolist() == [3, 3, 3]
    assert [STATUSES[code] for code in found.status] == ["ok", "truncated", "ok"]
    assert found.test.tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("outcomes", "scores", "reason"),
    [
        (["passed"], [(1.0, 1.0)], TOO_FEW),
        (["passed", "infra", "unknown"], [(1.0, 1.0)] * 3, TOO_FEW),
        (["infra", "unknown"], [(NULL, NULL)] * 2, TOO_FEW),
        (["failed", "failed"], [(NULL, NULL)] * 2, ALL_EQUAL),
        (["passed", "passed"], [(0.5, 0.8), (0.8, 0.5)], ALL_EQUAL),
        (["passed", "passed"], [(0.5, 0.8), (0.8, 0.5 + 2e-9)], KEPT),
        (["passed", "passed"], [(0.5, 0.8), (0.9, 0.5)], KEPT),
        (["passed", "failed"], [(NULL, NULL)] * 2, KEPT),
    ],
)
def test_groups_are_dropped_for_what_their_final_rewards_are(
    outcomes: list[str], scores: list[tuple[float, float]], reason: int
) -> None:
    assert set(run(one_group(outcomes, scores=scores)).drop_reason) == {reason}


def test_a_group_of_passes_alone_on_route_gar_is_dropped_also_when_lengths_differ() -> None:
    """The task is mixed over its two groups; the first holds passes only."""
    chunk = one_group(["passed"] * 3 + ["failed"] * 3, turns=[10, 20, 40, 1, 1, 1])
    found = run(replace(chunk, group_starts=np.array([0, 3])))
    assert found.drop_reason.tolist() == [ONE_OUTCOME] * 6
    assert found.reward[0] != found.reward[2]


def test_equal_tests_do_not_drop_an_all_pass_group_whose_scores_differ() -> None:
    found = run(one_group(["passed"] * 4, scores=[(0.9, 1.0), (0.8, 1.0), (0.7, 1.0), (0.6, 1.0)]), NO_LENGTH)
    assert found.kept.all()


def test_no_rows_are_no_trouble() -> None:
    none = np.zeros(0)
    chunk = one_group(["passed"])
    empty = EngineInputs(
        np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, np.int8), np.zeros(0, np.int8),
        ((np.zeros(0, dtype=bool), none),), (none, none, none), chunk.rankings, none,
    )  # fmt: skip
    for item in fields(EngineOutputs):
        assert len(getattr(run(empty), item.name)) == 0


def test_starts_that_leave_rows_out_are_refused() -> None:
    with pytest.raises(ValueError, match="starts of groups"):
        Segments.of(np.array([1, 3]), 5)
    with pytest.raises(ValueError, match="starts of groups"):
        Segments.of(np.array([0, 3, 3]), 5)


@examples(200)
@given(chunks)
def test_two_runs_give_the_same_bits(chunk: EngineInputs) -> None:
    assert_same(run(chunk), run(chunk), 0.0)


def test_a_group_that_nothing_ranked_has_plain_advantages_and_says_so() -> None:
    found = run(one_group(["passed", "passed", "failed"]), NO_LENGTH)
    assert set(found.ranking) == {UNRANKED}
    np.testing.assert_array_equal(found.advantage, found.advantage_base)
    np.testing.assert_array_equal(found.quality_factor[:2], [1, 1])


def test_an_unusable_ranking_leaves_the_route_and_the_plain_advantages() -> None:
    good = ((5, 5, 5, 5, 5), ())
    found = run(one_group(["passed", "passed", "failed"], checks={0: [good, None, None], 1: [good, None, None]}))
    assert set(found.ranking) == {UNUSABLE}
    assert set(found.route) == {GAR}
    np.testing.assert_array_equal(found.advantage, found.advantage_base)
    half = run(one_group(["passed", "passed", "failed"], checks={0: [good, None], 1: [good, None]}))
    assert set(half.ranking) == {USED}
