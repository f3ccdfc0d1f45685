"""Validity and the product reward (method 2.1, 2.2, 2.4), row by row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int8]
Bools = NDArray[np.bool_]

OUTCOMES = ("passed", "failed", "infra", "truncated", "unknown")
STATUSES = ("ok", "infra", "truncated", "unknown", "ungraded")
PASSED, FAILED, INFRA, TRUNCATED, UNKNOWN = range(5)
UNGRADED = STATUSES.index("ungraded")
_STATUS_OF = np.array(
    [STATUSES.index("ok" if name in ("passed", "failed") else name) for name in OUTCOMES], dtype=np.int8
)


@dataclass(frozen=True, slots=True)
class Product:
    """One value per row; NaN stands for null."""

    status: Ints
    """Index into `STATUSES`."""
    test: Floats
    """1 passed, 0 not passed, NaN when nobody knows."""
    reward: Floats
    """`test * product of factors`; NaN for masked rows."""
    valid: Bools
    """Rows that count in group statistics."""


def product(outcome: Ints, confirmed_hack: Bools, factors: tuple[tuple[Bools, Floats], ...]) -> Product:
    """R_i = test_i * product of the factors (method 2.4).

    `outcome` indexes `OUTCOMES`. `factors` holds, for each factor that the run multiplies, the rows it
    applies to (false where the task's rubric has no criteria) and its scores in [0, 1], NaN for null.
    A row whose test is 0, or whose hack is confirmed (method 2.2), is 0 whatever the scores, null
    included; a pass with a null factor is ungraded and masked.
    """
    known = (outcome == PASSED) | (outcome == FAILED) | (outcome == TRUNCATED)
    passed = outcome == PASSED
    test = np.where(known, passed.astype(np.float64), np.nan)
    scores = np.ones(len(outcome), dtype=np.float64)
    for applies, score in factors:
        scores = np.where(applies, scores * score, scores)
    counts = passed & ~confirmed_hack
    reward = np.where(known, np.where(counts, scores, 0.0), np.nan)
    ungraded = counts & np.isnan(scores)
    status = _STATUS_OF[outcome]
    status[ungraded] = UNGRADED
    return Product(status, test, reward, known & ~ungraded)
