"""Token weights (method 2.10): flagged tokens lose or carry more weight, each sign keeps its mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rubrics.rewards.arrays import Bools, Floats, Longs
from rubrics.rewards.config import TokenConfig
from rubrics.rewards.segments import divided


@dataclass(frozen=True, slots=True)
class TokenMass:
    """Per batch: sum of tokens * |advantage|, flagged and clean, by the sign of the owner's advantage.

    Masses of parts of the data add up.
    """

    flagged_positive: Floats
    clean_positive: Floats
    flagged_negative: Floats
    clean_negative: Floats

    def __add__(self, other: TokenMass) -> TokenMass:
        return TokenMass(
            self.flagged_positive + other.flagged_positive,
            self.clean_positive + other.clean_positive,
            self.flagged_negative + other.flagged_negative,
            self.clean_negative + other.clean_negative,
        )


@dataclass(frozen=True, slots=True)
class TokenWeights:
    """Per batch. A positive owner's clean tokens are multiplied by `alpha` and its flagged ones by 0; a negative
    owner's by `beta` and by kappa."""

    alpha: Floats
    beta: Floats
    alpha_clamped: Bools
    beta_clamped: Bools
    positive_unclean: Bools
    """There are flagged tokens of positive owners and no clean ones to take their mass."""
    negative_unclean: Bools
    mass_positive: Floats
    """Mass before; it is the mass after, too, unless one of the flags says no."""
    mass_positive_after: Floats
    mass_negative: Floats
    mass_negative_after: Floats


def token_mass(batch: Longs, batches: int, advantage: Floats, flagged: Floats, clean: Floats) -> TokenMass:
    """Masses of rollouts, of which each has an advantage and numbers of flagged and clean tokens."""
    size = np.abs(advantage)

    def mass(tokens: Floats, owners: Bools) -> Floats:
        return np.bincount(batch[owners], weights=(size * tokens)[owners], minlength=batches).astype(np.float64)

    gain, loss = advantage > 0, advantage < 0
    return TokenMass(mass(flagged, gain), mass(clean, gain), mass(flagged, loss), mass(clean, loss))


def token_weights(mass: TokenMass, config: TokenConfig) -> TokenWeights:
    """alpha = min(alpha_max, 1 + H+ / C+); beta = max(beta_min, 1 - (kappa - 1) * H- / C-).

    Without clean tokens of a sign its coefficient is 1: nothing can be moved.
    """
    more = 1 + np.nan_to_num(divided(mass.flagged_positive, mass.clean_positive))
    less = 1 - (config.kappa - 1) * np.nan_to_num(divided(mass.flagged_negative, mass.clean_negative))
    alpha = np.minimum(more, config.alpha_max)
    beta = np.maximum(less, config.beta_min)
    return TokenWeights(
        alpha,
        beta,
        more > config.alpha_max,
        less < config.beta_min,
        (mass.flagged_positive > 0) & (mass.clean_positive == 0),
        (mass.flagged_negative > 0) & (mass.clean_negative == 0) & (config.kappa != 1),
        mass.flagged_positive + mass.clean_positive,
        alpha * mass.clean_positive,
        mass.flagged_negative + mass.clean_negative,
        beta * mass.clean_negative + config.kappa * mass.flagged_negative,
    )
