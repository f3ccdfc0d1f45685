"""Whether the passes of a group differ by more than repeated judging does (method 6)."""

from __future__ import annotations

import numpy as np

from rubrics.rewards.arrays import EQUAL, Bools, Floats, Ints
from rubrics.rewards.quantiles import group_quantiles
from rubrics.rewards.segments import Segments


def within_noise(groups: Segments, score: Floats, passes: Bools, repeat_spread: Floats) -> Ints:
    """Per group: 1 where max - min of the passes' scores is at most the median spread of repeats, else 0.

    `repeat_spread` is max - min of a rollout's score over its repeats, NaN without repeats. -1 (null) where no
    pass has repeats, or fewer than two passes have a score.
    """
    scored = passes & ~np.isnan(score)
    noise = group_quantiles(groups, repeat_spread, passes & ~np.isnan(repeat_spread), 0.5)
    known = ~np.isnan(noise) & (groups.count(scored) >= 2)
    within = groups.spread(score, scored) <= noise + EQUAL
    return np.where(known, within, -1).astype(np.int8)
