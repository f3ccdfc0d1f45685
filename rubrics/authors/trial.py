"""Tries criteria on the studied attempts: which discriminate, which repeat another. Pure.

Every criterion is tried twice. *Apart*: each studied attempt is compared with the others only; that is
how it fares. *As a model*: each is also compared with itself, which asks whether an attempt that does
what a passing one did scores above one that does what a failing one did; that decides whether the
criterion discriminates. With two or three attempts a side, deciding by the first was measured to throw
away criteria that carry signal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from rubrics.authors.author import StudiedAttempt

MIN_GAP = 0.05
"""A criterion discriminates when passing attempts reach at least so much more of it than failing ones."""
SAME = 0.02
"""Two criteria say the same when no studied attempt tells them apart by more."""
Column = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Trial:
    """Mean value over passing and over failing attempts; null where no attempt of that side has one."""

    passing: float | None
    failing: float | None

    def discriminates(self) -> bool:
        return self.passing is not None and self.failing is not None and self.passing - self.failing >= MIN_GAP

    def contradicted(self) -> bool:
        """Passing attempts mostly do not meet it: then it cannot be a requirement."""
        return self.passing is not None and self.passing < 0.5

    def words(self) -> str:
        return f"passing {_number(self.passing)}, failing {_number(self.failing)} on average"


def tried(values: Column, passed: Sequence[bool]) -> Trial:
    """The means of one criterion's values."""
    sides = {
        side: [value for value, ok in zip(values, passed, strict=True) if ok is side and value is not None]
        for side in (True, False)
    }
    return Trial(fmean(sides[True]) if sides[True] else None, fmean(sides[False]) if sides[False] else None)


def as_model(attempt: StudiedAttempt) -> StudiedAttempt:
    """The attempt, compared with itself too: fully like its own side."""
    own = "_like_passing" if attempt.passed else "_like_failing"
    contrasts: Mapping[str, Any] = {
        name: 1.0 if name.endswith(own) else value for name, value in attempt.contrasts.items()
    }
    return replace(attempt, contrasts=contrasts)


def same(one: Column, other: Column) -> bool:
    """Two criteria that no studied attempt tells apart."""
    return all(
        (a is None and b is None) or (a is not None and b is not None and abs(a - b) <= SAME)
        for a, b in zip(one, other, strict=True)
    )


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"
