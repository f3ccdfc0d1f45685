"""Tiers, ranks and quality factors of ranked passes (method 3), computed from the checks in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rubrics.records.rankings import WEIGHTS
from rubrics.rewards.arrays import Bools, Floats, Longs
from rubrics.rewards.config import QualityConfig
from rubrics.rewards.segments import Segments

_WEIGHTS = np.array(WEIGHTS, dtype=np.int64)
_MOST = 5 * sum(WEIGHTS)


@dataclass(frozen=True, slots=True)
class Quality:
    """One value per ranked pass."""

    tier: Longs
    """1 to 3."""
    rank: Longs
    """From 1; passes of the same tier and W are tied, the next ones come right after them."""
    factor: Floats
    """f in (0, 1]."""


def tiers(checks: Longs, flags: Bools) -> Longs:
    """T3: a rewrite nobody asked for, a test-specific workaround, approach <= 1, or minimality and side effects
    both <= 2. T1: all checks >= 4, no severe process issue, no unresolved regression. T2: the rest."""
    rewrite, workaround, process, regression = flags.T
    third = rewrite | workaround | (checks[:, 0] <= 1) | ((checks[:, 2] <= 2) & (checks[:, 3] <= 2))
    first = np.logical_and.reduce(checks.T >= 4) & ~process & ~regression
    return np.where(third, 3, np.where(first, 1, 2))


def grade(group: Longs, checks: Longs, flags: Bools, config: QualityConfig) -> Quality:
    """Tiers, ranks and factors of the passes; `group` is each one's group, ascending."""
    tier = tiers(checks, flags)
    if len(tier) == 0:
        return Quality(tier, tier, np.zeros(0))
    key = (group * 4 + tier) * (_MOST + 1) + (_MOST - checks @ _WEIGHTS)
    order = _sorted_places(key)
    sets = Segments.of_keys(key[order])
    of_set = key[order][sets.starts] // (_MOST + 1)
    in_tier = _ordinals(of_set)
    in_group = _ordinals(of_set // 4)
    several = np.bincount(_runs(of_set))[_runs(of_set)]
    factor = _factors(of_set % 4, in_tier, several, config)
    rank = np.empty(len(tier), dtype=np.int64)
    quality = np.empty(len(tier))
    rank[order] = (in_group + 1)[sets.index]
    quality[order] = factor[sets.index]
    return Quality(tier, rank, quality)


def _sorted_places(key: Longs) -> Longs:
    """Places in the order of their keys. Sorting plain integers is faster than asking numpy for the order."""
    packed = key * len(key) + np.arange(len(key))
    packed.sort()
    return packed % len(key)


def _runs(values: Longs) -> Longs:
    return Segments.of_keys(values).index


def _ordinals(values: Longs) -> Longs:
    """Each value's place, from 0, in its run of equal neighbours."""
    runs = Segments.of_keys(values)
    return np.arange(len(values)) - runs.starts[runs.index]


def _factors(tier: Longs, place: Longs, sets: Longs, config: QualityConfig) -> Floats:
    """f of each tied set, the `place`-th of the `sets` in its tier."""
    step = (config.second_best - config.second_worst) / np.maximum(sets - 1, 1)
    first = np.where(place == 0, config.first_best, config.first_other)
    second = config.second_best - step * place
    return np.where(tier == 1, first, np.where(tier == 2, second, config.third))
