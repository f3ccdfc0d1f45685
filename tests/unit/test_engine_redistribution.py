"""GAR moves advantage and makes none: the identities of method 2.8 and 2.9, on binary and on float rewards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from engine_data import NULL, examples, seeds
from hypothesis import given
from hypothesis import strategies as st

from rubrics.rewards.centring import centre
from rubrics.rewards.redistribution import Redistributed, redistribute, reward_twin
from rubrics.rewards.segments import Segments

BINDS = {"all": 0, "capped": 0}


@dataclass(frozen=True)
class Case:
    """Ragged groups; failures have reward 0, masked rows none."""

    groups: Segments
    reward: Any
    passes: Any
    valid: Any
    quality: Any
    active: Any

    @classmethod
    def of(cls, seed: int, floats: bool = True, masked: bool = True) -> Case:
        rng = np.random.default_rng(seed)
        sizes = rng.integers(2, 17, size=6)
        groups = Segments.of(np.concatenate(([0], np.cumsum(sizes)[:-1])), int(sizes.sum()))
        rows = int(sizes.sum())
        passes = rng.random(rows) < np.repeat(rng.uniform(0.1, 0.9, len(sizes)), sizes)
        valid = rng.random(rows) < (0.9 if masked else 1.0)
        reward = np.where(passes, rng.uniform(0.05, 1, rows) if floats else 1.0, 0.0)
        passes &= valid
        quality = np.where(passes, rng.choice([0.2, 0.4, 0.625, 0.85, 0.9, 1.0], size=rows), NULL)
        n, k = groups.count(valid), groups.count(passes)
        return cls(groups, np.where(valid, reward, NULL), passes, valid, quality, (k > 0) & (k < n))

    def advantage(self, estimator: str = "dr_grpo") -> Any:
        return centre(self.groups, self.reward, self.valid, estimator, 1e-6)

    def moved(self, cap: float = np.inf, estimator: str = "dr_grpo", quality: Any = None) -> Redistributed:
        factor = self.quality if quality is None else quality
        return redistribute(self.groups, self.advantage(estimator).advantage, self.passes, self.active, factor, cap)

    def sums(self, values: Any, among: Any) -> Any:
        return self.groups.total(np.where(among & self.valid, values, 0.0))


cases = st.builds(Case.of, seeds, st.booleans(), st.booleans())
estimators = st.sampled_from(["dr_grpo", "std", "leave_one_out"])


def close(found: Any, wanted: Any, tolerance: float = 1e-9) -> None:
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance)


@examples(200)
@given(cases, estimators)
def test_uncapped_the_sum_over_the_passes_is_unchanged(case: Case, estimator: str) -> None:
    before = case.advantage(estimator).advantage
    close(case.sums(case.moved(estimator=estimator).advantage, case.passes), case.sums(before, case.passes))


@examples(200)
@given(cases, st.sampled_from([1.0, 1.2, 1.5, np.inf]), estimators)
def test_the_group_sums_to_0_also_after_re_centring(case: Case, cap: float, estimator: str) -> None:
    close(case.sums(case.moved(cap, estimator).advantage, case.valid), 0.0)


@examples(200)
@given(cases, estimators)
def test_uncapped_failures_and_passes_without_a_gain_are_unchanged(case: Case, estimator: str) -> None:
    before = case.advantage(estimator).advantage
    rest = ~(case.passes & (before > 0))
    np.testing.assert_array_equal(case.moved(estimator=estimator).advantage[rest], before[rest])


@examples(200)
@given(cases, st.sampled_from([1.5, np.inf]))
def test_before_re_centring_advantages_of_gaining_passes_are_scaled_by_their_factors(case: Case, cap: float) -> None:
    """Ratios A'_i / A'_k = f_i / f_k where A_i = A_k; in general A'_i / (f_i A_i) is one number for the group."""
    before = case.advantage().advantage
    moved = case.moved(cap)
    gains = case.passes & (before > 0) & case.active[case.groups.index]
    ratio = moved.shifted[gains] / (case.quality[gains] * before[gains])
    close(ratio, moved.scale[case.groups.index[gains]])


@examples(200)
@given(st.builds(Case.of, seeds, st.just(False), st.booleans()))
def test_binary_rewards_have_the_scale_one_over_the_mean_factor_of_the_passes(case: Case) -> None:
    k = case.groups.count(case.passes)[case.active]
    mean_factor = case.groups.total(np.where(case.passes, case.quality, 0.0))[case.active] / k
    close(case.moved().scale_uncapped[case.active], 1 / mean_factor)


@examples(200)
@given(cases, st.floats(0.05, 1.0))
def test_equal_factors_change_nothing(case: Case, factor: float) -> None:
    quality = np.where(case.passes, factor, NULL)
    close(case.moved(quality=quality).advantage, case.advantage().advantage)


@examples(200)
@given(seeds, st.floats(0.05, 1.0), st.integers(2, 16))
def test_a_single_pass_changes_nothing(seed: int, factor: float, size: int) -> None:
    rng = np.random.default_rng(seed)
    passes = np.arange(size) == rng.integers(size)
    reward = np.where(passes, rng.uniform(0.1, 1), 0.0)
    groups = Segments.of(np.array([0]), size)
    advantage = centre(groups, reward, np.ones(size, dtype=bool), "dr_grpo", 0).advantage
    moved = redistribute(groups, advantage, passes, np.array([True]), np.where(passes, factor, NULL), np.inf)
    close(moved.advantage, advantage)


@examples(400)
@given(cases, st.sampled_from([1.0, 1.1, 1.3, 1.5, 2.0]))
def test_the_cap_binds_exactly_where_the_weighted_mean_factor_is_below_one_over_it(case: Case, cap: float) -> None:
    gain = np.where(case.passes, np.maximum(case.advantage().advantage, 0), 0.0)
    mean_factor = case.groups.total(gain * np.nan_to_num(case.quality))[case.active]
    mean_factor /= case.groups.total(gain)[case.active]
    moved = case.moved(cap)
    capped = moved.capped[case.active]
    np.testing.assert_array_equal(capped, 1 / mean_factor > cap * (1 + 1e-9))
    close(moved.scale[case.active], np.minimum(1 / mean_factor, cap), 1e-8)
    BINDS["all"] += len(capped)
    BINDS["capped"] += int(capped.sum())


def test_the_cap_bound_in_a_good_share_of_the_groups_above() -> None:
    BINDS.update(all=0, capped=0)
    test_the_cap_binds_exactly_where_the_weighted_mean_factor_is_below_one_over_it()
    assert 0.2 < BINDS["capped"] / BINDS["all"] < 0.8, BINDS


@examples(200)
@given(cases, st.sampled_from([1.1, 1.5]))
def test_where_the_cap_binds_mass_is_lost_and_elsewhere_it_is_kept(case: Case, cap: float) -> None:
    moved = case.moved(cap)
    free = case.active & ~moved.capped
    close(moved.mass_after[free], moved.mass_before[free])
    assert (moved.mass_after[moved.capped] < moved.mass_before[moved.capped]).all()
    positive = case.sums(np.maximum(moved.advantage, 0), case.valid)
    close(moved.mass_after[case.active], positive[case.active])
    close(moved.mass_before[case.active], case.sums(np.maximum(case.advantage().advantage, 0), case.valid)[case.active])


@examples(200)
@given(cases, st.sampled_from([1.0, 1.5, np.inf]), estimators)
def test_a_pass_never_falls_below_a_failure(case: Case, cap: float, estimator: str) -> None:
    advantage = case.moved(cap, estimator).advantage
    lowest = case.groups.lowest(np.where(case.passes, advantage, np.inf))
    highest = case.groups.highest(np.where(case.valid & ~case.passes, advantage, -np.inf))
    assert (lowest >= highest).all()


@examples(200)
@given(cases, st.sampled_from([1.0, 1.5, np.inf]))
def test_equal_rewards_with_equal_factors_have_equal_advantages(case: Case, cap: float) -> None:
    advantage = case.moved(cap).advantage
    groups, quality = case.groups.index, np.nan_to_num(case.quality)
    keys = np.stack([groups, np.nan_to_num(case.reward, nan=-1), quality, case.valid], axis=1)
    _, same = np.unique(keys, axis=0, return_inverse=True)
    for key in range(same.max() + 1):
        values = advantage[same == key]
        assert np.isnan(values).all() or values.max() - values.min() <= 1e-12


@examples(200)
@given(cases, st.sampled_from([1.0, 1.5, np.inf]), estimators)
def test_subtracting_the_group_mean_of_the_twin_gives_the_advantage_back(
    case: Case, cap: float, estimator: str
) -> None:
    """Cap and re-centring included."""
    base, moved = case.advantage(estimator), case.moved(cap, estimator)
    star = reward_twin(case.groups, moved.shifted, base.mean, base.factor)
    again = centre(case.groups, star, case.valid, "dr_grpo", 0).advantage
    close(again * base.factor[case.groups.index], moved.advantage)


@examples(200)
@given(st.builds(Case.of, seeds, st.just(False), st.booleans()), st.sampled_from([1.5, np.inf]))
def test_for_binary_rewards_the_twin_is_mean_plus_scaled_factor_for_passes_and_0_for_failures(
    case: Case, cap: float
) -> None:
    base, moved = case.advantage(), case.moved(cap)
    star = reward_twin(case.groups, moved.shifted, base.mean, base.factor)
    mean, scale = base.mean[case.groups.index], moved.scale[case.groups.index]
    active = case.active[case.groups.index]
    wanted = mean + scale * case.quality * (1 - mean)
    close(star[case.passes & active], wanted[case.passes & active])
    close(star[case.valid & ~case.passes], 0.0)


@examples(200)
@given(cases, st.sampled_from([1.5, np.inf]))
def test_the_twin_survives_leave_one_out_with_one_factor_for_the_group(case: Case, cap: float) -> None:
    base, moved = case.advantage(), case.moved(cap)
    star = reward_twin(case.groups, moved.shifted, base.mean, base.factor)
    left_out = centre(case.groups, star, case.valid, "leave_one_out", 0)
    n = case.groups.count(case.valid)
    factor = np.where(n > 1, n / np.maximum(n - 1, 1), 1.0)
    close(left_out.advantage, factor[case.groups.index] * moved.advantage)


def test_a_failure_with_a_reward_of_its_own_keeps_its_advantage() -> None:
    """No route makes such rewards; the formula says so all the same: only passes are scaled."""
    advantage, passes = np.array([0.6, 0.3, -0.2, -0.7]), np.array([True, False, True, False])
    groups, quality = Segments.of(np.array([0]), 4), np.array([0.5, NULL, 1.0, NULL])
    moved = redistribute(groups, advantage, passes, np.array([True]), quality, np.inf)
    close(moved.advantage, advantage)


@examples(200)
@given(seeds, st.integers(2, 16))
def test_leave_one_out_is_the_reward_minus_the_mean_of_the_others(seed: int, size: int) -> None:
    reward = np.random.default_rng(seed).random(size)
    found = centre(Segments.of(np.array([0]), size), reward, np.ones(size, dtype=bool), "leave_one_out", 0)
    close(found.advantage, [reward[i] - np.delete(reward, i).mean() for i in range(size)])


@examples(200)
@given(seeds, st.integers(2, 16), st.sampled_from([0.0, 1e-6, 0.1]))
def test_std_divides_by_the_sample_deviation_plus_eps(seed: int, size: int, eps: float) -> None:
    reward = np.random.default_rng(seed).random(size)
    found = centre(Segments.of(np.array([0]), size), reward, np.ones(size, dtype=bool), "std", eps)
    close(found.advantage, (reward - reward.mean()) / (reward.std(ddof=1) + eps))
