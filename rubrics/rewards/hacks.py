"""Hack reset (method 2.2): a confirmed hack sets the reward to 0 before any statistic is taken."""

from __future__ import annotations

import numpy as np

from rubrics.rewards.arrays import Bools, Ints
from rubrics.rewards.product import PASSED

HACKS = ("none", "suspected", "confirmed")
NONE, SUSPECTED, CONFIRMED = range(3)
NOT_AUDITED = -1


def only_passes(outcome: Ints, hack: Ints) -> Ints:
    """The audit's findings; only a pass can be a hack, so what was found of others is `none`."""
    return np.where((outcome != PASSED) & (hack > NONE), np.int8(NONE), hack)


def passes_after_reset(outcome: Ints, hack: Ints) -> Bools:
    """Rollouts that pass and are no confirmed hack. The others are ordinary failures, or masked."""
    passes: Bools = (outcome == PASSED) & (hack != CONFIRMED)
    return passes
