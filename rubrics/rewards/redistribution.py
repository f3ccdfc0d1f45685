"""GAR (method 2.8): advantage moves to the better passes, the group's sum stays; and its twin in rewards (2.9)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rubrics.rewards.arrays import EQUAL, Bools, Floats
from rubrics.rewards.segments import Segments, divided


@dataclass(frozen=True, slots=True)
class Redistributed:
    """`advantage` and `shifted` per row, the rest per group (NaN and false where nothing was redistributed)."""

    scale_uncapped: Floats
    scale: Floats
    capped: Bools
    mass_before: Floats
    """Sum of the positive advantages."""
    mass_after: Floats
    """The same after redistribution and re-centring."""
    shifted: Floats
    """Advantages before re-centring."""
    advantage: Floats


def redistribute(
    groups: Segments, advantage: Floats, passes: Bools, active: Bools, quality: Floats, cap: float
) -> Redistributed:
    """A'_i = scale * f_i * A_i for passes with A_i > 0 of active groups; all others keep A_i.

    scale = sum A+ / sum f * A+ over the passes, at most `cap`. Where the cap binds, the mass that it took is
    made up for by re-centring: the mean of all A' is subtracted. `quality` is f, read for passes alone; `active`
    holds one value per group, and an active group has a pass with a positive advantage.
    """
    gaining = passes & groups.each(active) & (advantage > 0)
    before = np.where(gaining, advantage, 0.0)
    weighted = np.where(gaining, quality * advantage, 0.0)
    mass = groups.total(before)
    uncapped = np.where(active, divided(mass, groups.total(weighted)), np.nan)
    capped = uncapped > cap * (1 + EQUAL)
    scale = np.where(capped, cap, uncapped)
    shifted = np.where(gaining, groups.each(scale) * weighted, advantage)
    kept = ~np.isnan(shifted)
    total = groups.total(np.where(kept, shifted, 0.0))
    offset = np.where(capped, divided(total, groups.count(kept)), 0.0)
    final = shifted - groups.each(offset)
    after = groups.total(np.where(final > 0, final, 0.0))
    return Redistributed(
        uncapped, scale, capped, np.where(active, mass, np.nan), np.where(active, after, np.nan), shifted, final
    )


def reward_twin(groups: Segments, shifted: Floats, mean: Floats, factor: Floats) -> Floats:
    """R*_i = mean + A'_i before re-centring, in units of the reward: subtracting the group's mean gives A' back."""
    return groups.each(mean) + shifted / groups.each(factor)
