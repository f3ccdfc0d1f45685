"""The length penalty (method 2.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rubrics.rewards.arrays import Bools, Floats
from rubrics.rewards.config import LengthConfig
from rubrics.rewards.quantiles import group_quantiles
from rubrics.rewards.segments import Segments, divided


@dataclass(frozen=True, slots=True)
class Shortened:
    """One value per row; NaN for masked rows."""

    reward: Floats
    taken: Floats
    """What was really taken off, at least 0."""
    floored: Bools
    """Whether more would have been taken than there was."""


def shorten(
    groups: Segments, reward: Floats, passes: Bools, valid: Bools, lengths: tuple[Floats, ...], config: LengthConfig
) -> Shortened:
    """R' = max(0, R - X * excess) for passes of groups whose pass rate is above the gate.

    `passes` are valid rows; `lengths` holds one array per measure of the configuration.
    """
    rate = divided(groups.count(passes), groups.count(valid))
    gated = passes & groups.each(rate > config.gate)
    wanted = config.penalty * _worst_excess(groups, gated, lengths, config)
    floored = gated & (wanted > reward)
    taken = np.where(valid, np.where(gated, np.minimum(wanted, reward), 0.0), np.nan)
    return Shortened(reward - taken, taken, floored)


def _worst_excess(groups: Segments, gated: Bools, lengths: tuple[Floats, ...], config: LengthConfig) -> Floats:
    """The largest excess over the measures, each in [0, 1]; 0 where no measure counts."""
    worst = np.zeros(len(gated))
    if config.penalty == 0 or not gated.any():
        return worst
    for length in lengths:
        lacking = groups.count(gated & np.isnan(length)) > 0
        usable = gated & ~groups.each(lacking)
        reference = group_quantiles(groups, length, usable, config.quantile)
        reference[~(reference > 0)] = np.nan
        over = (length / groups.each(reference) - 1 - config.tolerance) / (config.saturation - config.tolerance)
        np.fmax(worst, np.where(usable, over, 0.0), out=worst)
    return np.minimum(worst, 1.0) ** config.exponent
