"""Group statistics, the group filter and plain advantages (method 2.6, 2.7)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rubrics.rewards.product import Bools, Floats, Ints

EQUAL = 1e-9
"""Floats are equal when max - min is at most this (method 1)."""
MIN_VALID = 2
DROP_REASONS = ("", "too_few_valid", "equal_rewards")
KEPT, TOO_FEW, ALL_EQUAL = range(3)


@dataclass(frozen=True, slots=True)
class GroupStatistics:
    """One value per group."""

    size: NDArray[np.int64]
    valid: NDArray[np.int64]
    mean: Floats
    """Mean reward of the valid rows; NaN without any."""
    drop: Ints
    """Index into `DROP_REASONS`; 0 for a kept group."""


def group_statistics(group: NDArray[np.int64], n_groups: int, reward: Floats, valid: Bools) -> GroupStatistics:
    """Sizes, means and the filter of method 2.6, on the final rewards.

    `group` holds each row's group, from 0 to `n_groups - 1`, in any order.
    """
    size = np.bincount(group, minlength=n_groups)
    counted = group[valid]
    rewards = reward[valid]
    n_valid = np.bincount(counted, minlength=n_groups)
    total = np.bincount(counted, weights=rewards, minlength=n_groups)
    mean = np.divide(total, n_valid, out=np.full(n_groups, np.nan), where=n_valid > 0)
    low = np.full(n_groups, np.inf)
    high = np.full(n_groups, -np.inf)
    np.minimum.at(low, counted, rewards)
    np.maximum.at(high, counted, rewards)
    drop = np.zeros(n_groups, dtype=np.int8)
    drop[(n_valid >= MIN_VALID) & (high - low <= EQUAL)] = ALL_EQUAL
    drop[n_valid < MIN_VALID] = TOO_FEW
    return GroupStatistics(size, n_valid, mean, drop)


def centred(reward: Floats, valid: Bools, group: NDArray[np.int64], mean: Floats) -> Floats:
    """A_i = R_i - mean of the group's valid rewards (method 2.7, Dr. GRPO form); NaN for masked rows."""
    return np.where(valid, reward - mean[group], np.nan)
