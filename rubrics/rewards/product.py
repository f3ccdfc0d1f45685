"""Validity and the product reward (method 2.1, 2.4), row by row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rubrics.rewards.arrays import Bools, Floats, Ints

OUTCOMES = ("passed", "failed", "infra", "truncated", "unknown")
STATUSES = ("ok", "infra", "truncated", "unknown", "ungraded")
PASSED, FAILED, INFRA, TRUNCATED, UNKNOWN = range(5)
UNGRADED = STATUSES.index("ungraded")
_STATUS_OF = np.array(
    [STATUSES.index("ok" if name in ("passed", "failed") else name) for name in OUTCOMES], dtype=np.int8
)
_KNOWN = np.array([name in ("passed", "failed", "truncated") for name in OUTCOMES])

Factor = tuple[Bools, Floats]
"""The rows that a score multiplies (not those whose rubric has no criteria), and the score in [0, 1]."""


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


def known_outcome(outcome: Ints) -> Bools:
    """Rows whose outcome counts; infra and unknown do not (method 2.1)."""
    return _KNOWN[outcome]


def product(outcome: Ints, passes: Bools, factors: tuple[Factor, ...], multiplied: Bools) -> Product:
    """R_i = test_i * product of the factors on `multiplied` rows, test_i on the others (method 2.4).

    `outcome` indexes `OUTCOMES`; `passes` are those left after the hack reset. A row that is no pass is 0
    whatever its scores, null included; a pass with a null factor is ungraded and masked.
    """
    known = known_outcome(outcome)
    test = np.where(known, outcome == PASSED, np.nan)
    score = np.where(passes, 1.0, 0.0)
    for applies, values in factors:
        score = np.where(applies & multiplied & passes, score * values, score)
    ungraded = np.isnan(score)
    valid = known & ~ungraded
    status = np.where(ungraded, np.int8(UNGRADED), _STATUS_OF[outcome])
    return Product(status, test, np.where(valid, score, np.nan), valid)
