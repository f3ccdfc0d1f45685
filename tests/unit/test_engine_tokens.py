"""Token weights (method 2.10): mass is conserved per sign, or a flag says why not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine_data import examples, seeds
from hypothesis import given
from hypothesis import strategies as st

from rubrics.rewards.config import TokenConfig
from rubrics.rewards.tokens import TokenMass, token_mass, token_weights

SEEN = {"free": 0, "alpha_clamped": 0, "beta_clamped": 0, "positive_unclean": 0, "negative_unclean": 0}
configs = st.builds(
    TokenConfig,
    kappa=st.sampled_from([1.0, 1.5, 2.0, 4.0]),
    beta_min=st.sampled_from([0.0, 0.5, 0.9]),
    alpha_max=st.sampled_from([1.0, 1.1, 2.0]),
)


def rollouts(seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    batch = rng.integers(0, 6, size=30)
    flagged = np.where(rng.random(30) < 0.4, rng.integers(1, 40, size=30), 0).astype(float)
    clean = rng.integers(0, 200, size=30) * rng.choice([0.0, 0.1, 1.0], size=6)[batch]
    return batch, rng.normal(size=30), flagged, clean


def one(advantage: float, flagged: float, clean: float, config: TokenConfig) -> Any:
    mass = token_mass(np.array([0]), 1, np.array([advantage]), np.array([flagged]), np.array([clean]))
    return token_weights(mass, config)


@examples(400)
@given(seeds, configs)
def test_the_mass_of_each_sign_is_kept_unless_a_flag_says_why_not(seed: int, config: TokenConfig) -> None:
    batch, advantage, flagged, clean = rollouts(seed)
    found = token_weights(token_mass(batch, 6, advantage, flagged, clean), config)
    for number in range(6):
        for sign, kind in ((1, "positive"), (-1, "negative")):
            mine = (batch == number) & (np.sign(advantage) == sign)
            size = np.abs(advantage[mine])
            on_clean = found.alpha[number] if sign > 0 else found.beta[number]
            on_flagged = 0.0 if sign > 0 else config.kappa
            before = (size * (flagged + clean)[mine]).sum()
            after = (size * (on_flagged * flagged[mine] + on_clean * clean[mine])).sum()
            assert before == pytest.approx(getattr(found, f"mass_{kind}")[number], abs=1e-9)
            assert after == pytest.approx(getattr(found, f"mass_{kind}_after")[number], abs=1e-9)
            clamped = found.alpha_clamped[number] if sign > 0 else found.beta_clamped[number]
            unclean = getattr(found, f"{kind}_unclean")[number]
            assert (abs(before - after) <= 1e-9 * max(1, before)) == (not clamped and not unclean)
            SEEN["free"] += not clamped and not unclean and before > 0
    for name in ("alpha_clamped", "beta_clamped", "positive_unclean", "negative_unclean"):
        SEEN[name] += int(getattr(found, name).sum())


def test_each_of_the_flags_and_its_absence_was_seen_above() -> None:
    SEEN.update(dict.fromkeys(SEEN, 0))
    test_the_mass_of_each_sign_is_kept_unless_a_flag_says_why_not()
    assert min(SEEN.values()) > 50, SEEN


@examples(200)
@given(seeds)
def test_masses_of_parts_add_up(seed: int) -> None:
    """So that a batch may be spread over chunks."""
    batch, *rest = rollouts(seed)
    whole = token_mass(batch, 6, *rest)
    parts = [token_mass(batch[part], 6, *(values[part] for values in rest)) for part in (slice(0, 11), slice(11, 30))]
    added: TokenMass = parts[0] + parts[1]
    for name in ("flagged_positive", "clean_positive", "flagged_negative", "clean_negative"):
        np.testing.assert_allclose(getattr(added, name), getattr(whole, name), rtol=0, atol=1e-9)


def test_without_flagged_tokens_nothing_changes() -> None:
    for sign in (1.0, -1.0):
        found = one(sign, 0, 100, TokenConfig())
        assert (found.alpha[0], found.beta[0]) == (1, 1)


def test_a_batch_without_clean_tokens_is_left_at_1_and_flagged() -> None:
    gain, loss = one(1.0, 10, 0, TokenConfig()), one(-1.0, 10, 0, TokenConfig())
    assert (gain.alpha[0], gain.positive_unclean[0], gain.mass_positive_after[0]) == (1, True, 0)
    assert (loss.beta[0], loss.negative_unclean[0], loss.mass_negative_after[0]) == (1, True, 20)


def test_the_clamps_of_the_open_profile_bind_beyond_a_flagged_share_of_one_half_and_one_third() -> None:
    assert not one(1.0, 10, 10, TokenConfig()).alpha_clamped[0]
    assert one(1.0, 11, 10, TokenConfig()).alpha_clamped[0]
    assert not one(-1.0, 10, 20, TokenConfig()).beta_clamped[0]
    assert one(-1.0, 11, 20, TokenConfig()).beta_clamped[0]


def test_an_advantage_of_0_owns_no_mass() -> None:
    found = one(0.0, 10, 10, TokenConfig())
    assert (found.mass_positive[0], found.mass_negative[0]) == (0, 0)
