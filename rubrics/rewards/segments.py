"""Groups of any size as runs of neighbouring rows, and what is computed per group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rubrics.rewards.arrays import Bools, Floats, Longs

Value = TypeVar("Value", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Segments:
    """Whole groups: group g is the rows from `starts[g]` up to the next start. No group is empty."""

    starts: Longs
    sizes: Longs

    @classmethod
    def of(cls, starts: Longs, rows: int) -> Segments:
        """Groups that begin at `starts` (ascending, the first at 0). Raises `ValueError` for other starts."""
        sizes = np.diff(starts, append=rows)
        if (rows and (len(starts) == 0 or starts[0] != 0)) or (sizes < 1).any():
            raise ValueError(f"starts of groups: wanted ascending rows from 0 to {rows - 1}, the first of them 0")
        return cls(starts, sizes)

    @classmethod
    def of_keys(cls, *keys: Longs) -> Segments:
        """Groups of neighbouring rows with equal keys."""
        rows = len(keys[0])
        first = np.ones(rows, dtype=np.bool_)
        first[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
        return cls.of(np.flatnonzero(first), rows)

    @property
    def index(self) -> Longs:
        """The group of each row; made anew each time."""
        return np.repeat(np.arange(len(self.starts)), self.sizes)

    def __len__(self) -> int:
        return len(self.starts)

    def each(self, values: NDArray[Value]) -> NDArray[Value]:
        """One value per group as one per row."""
        return np.repeat(values, self.sizes)

    def total(self, values: Floats) -> Floats:
        """Sum per group."""
        return np.add.reduceat(values, self.starts) if len(self) else np.zeros(0)

    def count(self, mask: Bools) -> Longs:
        """Number of true rows per group."""
        if mask.all():
            return self.sizes
        return np.add.reduceat(mask, self.starts, dtype=np.int64) if len(self) else np.zeros(0, dtype=np.int64)

    def lowest(self, values: Floats) -> Floats:
        return np.minimum.reduceat(values, self.starts) if len(self) else np.zeros(0)

    def highest(self, values: Floats) -> Floats:
        return np.maximum.reduceat(values, self.starts) if len(self) else np.zeros(0)

    def spread(self, values: Floats, among: Bools) -> Floats:
        """max - min of the rows in `among`; -inf for a group without any."""
        high = self.highest(np.where(among, values, -np.inf))
        return high - self.lowest(np.where(among, values, np.inf))


def divided(numerator: Floats | Longs, denominator: Floats | Longs) -> Floats:
    """The quotient; NaN where the denominator is 0."""
    quotient = np.full(len(denominator), np.nan)
    np.divide(numerator, denominator, out=quotient, where=denominator != 0)
    return quotient
