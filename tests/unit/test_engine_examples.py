"""Every number that the method prints, computed by the engine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from engine_data import DEFAULTS, NO_LENGTH, NULL, one_group, run

from rubrics.rewards.redistribution import redistribute
from rubrics.rewards.segments import Segments
from rubrics.rewards.tiers import grade
from rubrics.rewards.tokens import token_mass, token_weights

GRS = replace(NO_LENGTH, routing="grs")
TOP, GOOD, FAIR, POOR = (5, 5, 5, 5, 5), (4, 4, 4, 4, 4), (3, 3, 3, 3, 3), (1, 5, 5, 5, 5)


def close(found: object, wanted: object) -> None:
    np.testing.assert_allclose(np.asarray(found, dtype=float), np.asarray(wanted, dtype=float), rtol=0, atol=1e-12)


def redistributed(passing: int, size: int, factors: list[float], cap: float = 1.5) -> object:
    """Binary rewards: the first `passing` of `size` rows pass."""
    reward = np.array([1.0] * passing + [0.0] * (size - passing))
    quality = np.array(factors + [NULL] * (size - passing))
    groups = Segments.of(np.array([0]), size)
    return redistribute(groups, reward - reward.mean(), reward > 0, np.array([True]), quality, cap)


@pytest.mark.parametrize(("solution", "behavior", "reward"), [(0.90, 0.80, 0.720), (0.50, 0.50, 0.250)])
def test_the_product_of_a_pass_is_its_two_scores_multiplied(solution: float, behavior: float, reward: float) -> None:
    found = run(one_group(["passed"], scores=[(solution, behavior)]), NO_LENGTH)
    close(found.reward_raw, [reward])


def test_a_pair_of_passes_with_072_and_025_has_advantages_of_0235() -> None:
    found = run(one_group(["passed", "passed"], scores=[(0.9, 0.8), (0.5, 0.5)]), NO_LENGTH)
    close(found.reward, [0.72, 0.25])
    close(found.advantage, [0.235, -0.235])


def test_zeroing_the_advantage_of_a_hack_instead_of_its_reward_would_leave_minus_a_quarter() -> None:
    passing = run(one_group(["passed"] * 3 + ["failed"]), NO_LENGTH)
    close(passing.advantage[:2].sum() + passing.advantage[3], -0.25)
    reset = run(one_group(["passed"] * 3 + ["failed"], hacks=["none", "none", "confirmed", "none"]), NO_LENGTH)
    close(reset.advantage, [0.5, 0.5, -0.5, -0.5])
    close(reset.reward, [1, 1, 0, 0])


def test_five_rollouts_with_three_passing_share_120_as_06_03_03() -> None:
    found = redistributed(3, 5, [1, 0.5, 0.5])
    close(found.advantage, [0.6, 0.3, 0.3, -0.6, -0.6])
    close([found.mass_before[0], found.mass_after[0], found.scale[0]], [1.2, 1.2, 1.5])
    assert not found.capped[0]


def test_a_leak_on_the_third_row_leaves_two_passes_that_share_120_as_08_04() -> None:
    found = redistributed(2, 5, [1, 0.5])
    close(found.advantage, [0.8, 0.4, -0.4, -0.4, -0.4])
    close([found.mass_before[0], found.scale[0]], [1.2, 4 / 3])


def test_the_leak_leaves_the_ranking_too_and_the_factors_are_those_of_the_others() -> None:
    """Through the whole engine: the leaked row was ranked best; without it the tied sets are other ones."""
    rounds = {0: [(GOOD, ())], 1: [(POOR, ())], 2: [(TOP, ())]}
    hacks = ["none", "none", "confirmed", "none", "none"]
    found = run(one_group(["passed"] * 3 + ["failed"] * 2, hacks=hacks, checks=rounds), NO_LENGTH)
    close(found.quality_factor, [1.0, 0.2, NULL, NULL, NULL])
    scale = min(1.5, 1.2 / (0.6 * 1.2))
    shifted = np.array([scale * 0.6, scale * 0.2 * 0.6, -0.4, -0.4, -0.4])
    close(found.advantage, shifted - shifted.mean())


def test_the_cap_binds_for_two_of_four_passes_with_1_and_02_and_095_of_1_is_left() -> None:
    found = redistributed(2, 4, [1, 0.2])
    close(found.advantage, [0.775, 0.175, -0.475, -0.475])
    close([found.mass_before[0], found.mass_after[0]], [1.0, 0.95])
    assert found.capped[0]


def test_the_largest_advantage_of_two_passes_in_sixteen_is_13234375() -> None:
    close(redistributed(2, 16, [1, 0.2]).advantage.max(), 1.3234375)


def test_28_clean_and_2_flagged_positive_tokens_give_alpha_15_over_14_and_keep_15() -> None:
    mass = token_mass(np.array([0]), 1, np.array([0.5]), np.array([2.0]), np.array([28.0]))
    found = token_weights(mass, DEFAULTS.tokens)
    close([found.alpha[0], found.mass_positive[0], found.mass_positive_after[0]], [15 / 14, 15, 15])


def test_24_clean_and_4_flagged_negative_tokens_give_beta_5_over_6_and_keep_14() -> None:
    mass = token_mass(np.array([0]), 1, np.array([-0.5]), np.array([4.0]), np.array([24.0]))
    found = token_weights(mass, DEFAULTS.tokens)
    close([found.beta[0], found.mass_negative[0], found.mass_negative_after[0]], [5 / 6, 14, 14])


def test_quality_factors_are_10_09_for_tier_1_085_to_040_for_tier_2_and_020_for_tier_3() -> None:
    checks = np.array([TOP, GOOD, (3, 5, 5, 5, 5), FAIR, (2, 2, 3, 3, 3), POOR])
    found = grade(np.zeros(6, dtype=np.int64), checks, np.zeros((6, 4), dtype=bool), DEFAULTS.quality)
    assert found.tier.tolist() == [1, 1, 2, 2, 2, 3]
    assert found.rank.tolist() == [1, 2, 3, 4, 5, 6]
    close(found.factor, [1.0, 0.9, 0.85, 0.625, 0.40, 0.20])


def test_a_single_tied_set_of_tier_2_has_085() -> None:
    found = grade(np.zeros(2, dtype=np.int64), np.array([FAIR, FAIR]), np.zeros((2, 4), dtype=bool), DEFAULTS.quality)
    close(found.factor, [0.85, 0.85])


def test_weights_of_the_checks_are_6_5_4_3_2_of_100() -> None:
    checks = np.array([(5, 4, 3, 3, 3), (3, 4, 5, 4, 4), (4, 4, 3, 3, 3)])
    assert (checks @ np.array([6, 5, 4, 3, 2])).tolist() == [77, 78, 71]
    found = grade(np.zeros(3, dtype=np.int64), checks, np.zeros((3, 4), dtype=bool), DEFAULTS.quality)
    assert found.rank.tolist() == [2, 1, 3]


def test_two_different_sets_of_checks_with_equal_weight_are_one_tied_set() -> None:
    checks = np.array([(5, 3, 3, 3, 3), (3, 3, 5, 3, 5), (4, 3, 3, 5, 3)])
    found = grade(np.zeros(3, dtype=np.int64), checks, np.zeros((3, 4), dtype=bool), DEFAULTS.quality)
    assert found.rank.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("turns", "taken"),
    [
        ([10, 10, 20, 0], [0, 0, 0.2, 0]),
        ([10, 10, 15, 0], [0, 0, 0.2 * 0.5**1.5, 0]),
        ([10, 10, 40, 99], [0, 0, 0.2, 0]),
    ],
)
def test_the_open_profile_takes_up_to_02_from_passes_longer_than_the_30_percent_quantile(
    turns: list[float], taken: list[float]
) -> None:
    found = run(one_group(["passed"] * 3 + ["failed"], turns=turns))
    close(found.length_penalty, taken)
    close(found.reward, np.array([1, 1, 1, 0]) - taken)


def test_the_defaults_of_the_package_are_the_numbers_of_the_method() -> None:
    length, tokens = DEFAULTS.length, DEFAULTS.tokens
    assert (length.penalty, length.tolerance, length.saturation, length.exponent) == (0.2, 0, 1, 1.5)
    assert (length.quantile, length.gate) == (0.30, 0.5)
    assert (DEFAULTS.gar.cap, DEFAULTS.grs_from, DEFAULTS.routing, DEFAULTS.estimator) == (1.5, 0.8, "task", "dr_grpo")
    assert (tokens.kappa, tokens.beta_min, tokens.alpha_max) == (2, 0.5, 2.0)
    quality = DEFAULTS.quality
    factors = (quality.first_best, quality.first_other, quality.second_best, quality.second_worst, quality.third)
    assert factors == (1.0, 0.9, 0.85, 0.40, 0.20)


@pytest.mark.parametrize(("passing", "of", "route"), [(4, 5, 0), (3, 4, 1), (0, 4, 2), (1, 5, 1), (5, 5, 0)])
def test_a_pass_rate_of_08_is_graded_none_passing_is_plain_and_the_rest_is_ranked(
    passing: int, of: int, route: int
) -> None:
    scores = [(1.0, 1.0)] * of
    found = run(one_group(["passed"] * passing + ["failed"] * (of - passing), scores=scores))
    assert set(found.route.tolist()) == {route}
