"""Advantages (method 2.7): the group's mean is subtracted; other estimators are options."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rubrics.rewards.arrays import Bools, Floats
from rubrics.rewards.segments import Segments, divided

ESTIMATORS = ("dr_grpo", "std", "leave_one_out")


@dataclass(frozen=True, slots=True)
class Centred:
    """Advantages before redistribution."""

    mean: Floats
    """Per group: mean reward of the valid rows, NaN without any."""
    factor: Floats
    """Per group: what the estimator multiplies `reward - mean` by."""
    advantage: Floats
    """Per row; NaN for masked rows."""


def centre(groups: Segments, reward: Floats, valid: Bools, estimator: str, std_eps: float) -> Centred:
    """A_i = factor * (R_i - mean).

    `dr_grpo`: factor 1. `std`: 1 / (sample standard deviation + eps). `leave_one_out`: R_i minus the mean of the
    others, which is n / (n - 1). A group of one row has factor 1: its advantage is 0 whatever the factor.
    """
    n = groups.count(valid)
    mean = divided(groups.total(reward if n is groups.sizes else np.where(valid, reward, 0.0)), n)
    deviation = reward - groups.each(mean)
    several = np.maximum(n - 1, 1)
    if estimator == "std":
        squares = groups.total(np.where(valid, deviation * deviation, 0.0))
        factor = np.where(n > 1, 1 / (np.sqrt(squares / several) + std_eps), 1.0)
    elif estimator == "leave_one_out":
        factor = np.where(n > 1, n / several, 1.0)
    else:
        return Centred(mean, np.ones(len(groups)), deviation)
    return Centred(mean, factor, deviation * groups.each(factor))
