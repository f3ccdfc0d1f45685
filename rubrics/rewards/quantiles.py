"""Quantiles per group."""

from __future__ import annotations

import numpy as np

from rubrics.rewards.arrays import Bools, Floats, Longs
from rubrics.rewards.segments import Segments


def group_quantiles(groups: Segments, values: Floats, among: Bools, share: float) -> Floats:
    """The `share`-quantile, linearly interpolated, of each group's values in `among`; NaN without any.

    Groups of like size are sorted together, as rows of one padded matrix: at most half of it is padding.
    """
    result = np.full(len(groups), np.nan)
    chosen = np.flatnonzero(among)
    if len(chosen) == 0:
        return result
    picked = groups.index[chosen]
    runs = Segments.of_keys(picked)
    numbers = values[chosen]
    place = np.arange(len(chosen)) - runs.starts[runs.index]
    width = np.ceil(np.log2(runs.sizes)).astype(np.int64)
    for power in np.unique(width):
        mine = np.flatnonzero(width == power)
        matrix = np.full((len(mine), 1 << int(power)), np.inf)
        row_of = np.full(len(runs), -1)
        row_of[mine] = np.arange(len(mine))
        rows = row_of[runs.index]
        inside = rows >= 0
        matrix[rows[inside], place[inside]] = numbers[inside]
        matrix.sort(axis=1)
        result[picked[runs.starts[mine]]] = _interpolated(matrix, runs.sizes[mine], share)
    return result


def _interpolated(matrix: Floats, sizes: Longs, share: float) -> Floats:
    position = share * (sizes - 1)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, sizes - 1)
    rows = np.arange(len(matrix))
    low, high = matrix[rows, below], matrix[rows, above]
    between: Floats = low + (position - below) * (high - low)
    return between
