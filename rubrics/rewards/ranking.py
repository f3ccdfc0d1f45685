"""What the rounds of a ranking say of each pass (method 3): medians of checks, majorities of flags, usability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rubrics.records.rankings import CHECKS, FLAGS
from rubrics.rewards.arrays import Bools, Ints, Longs
from rubrics.rewards.segments import Segments

RANKINGS = ("none", "used", "unusable")
UNRANKED, USED, UNUSABLE = range(3)
_LEVELS = 5


@dataclass(frozen=True, slots=True)
class Rankings:
    """One entry per ranked rollout and round, in any order; a rollout stands once in a round."""

    row: Longs
    """The rollout's row in the chunk."""
    round: Longs
    checks: Ints
    """Shape (entries, 5): 1 to 5, else not answered."""
    flags: Bools
    """Shape (entries, 4): only what has evidence."""
    usable: Bools

    @classmethod
    def empty(cls) -> Rankings:
        no_rows = np.zeros(0, dtype=np.int64)
        return cls(
            no_rows, no_rows, np.zeros((0, 5), np.int8), np.zeros((0, 4), dtype=np.bool_), np.zeros(0, dtype=np.bool_)
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """The aggregate of the rounds."""

    state: Ints
    """Per group: index into `RANKINGS`."""
    row: Longs
    """The passes of groups whose ranking is used, ascending."""
    checks: Longs
    """Shape (passes, 5): lower medians over the usable rounds."""
    flags: Bools
    """Shape (passes, 4): true in more than half of the usable rounds."""


def aggregate(groups: Segments, rankings: Rankings, passes: Bools, eligible: Bools) -> Judged:
    """Only passes of `eligible` groups (one value per group) are read: a confirmed hack has left the ranking.

    A round of a group is usable when each of its entries is: marked so, and all five checks answered. The ranking
    of a group is unusable when fewer than half of its rounds are, or when a pass stands in none of them.
    """
    ranked = passes & groups.each(eligible)
    own = ranked[rankings.row]
    row, checks = rankings.row[own], rankings.checks[own]
    answered = np.logical_and.reduce([(check >= 1) & (check <= _LEVELS) for check in checks.T])
    in_usable, has_rounds, half = _rounds(groups, row, rankings.round[own], answered & rankings.usable[own])
    row, checks, flags = row[in_usable], checks[in_usable], rankings.flags[own][in_usable]
    times = np.bincount(row, minlength=len(ranked))
    whole = groups.count(ranked & (times == 0)) == 0
    state = np.where(has_rounds, np.where(half & whole, np.int8(USED), np.int8(UNUSABLE)), np.int8(UNRANKED))
    judged = np.flatnonzero(ranked & groups.each(state == USED))
    compact = np.full(len(ranked), -1)
    compact[judged] = np.arange(len(judged))
    place = compact[row]
    mine = place >= 0
    n = times[judged]
    return Judged(state, judged, _lower_medians(place[mine], checks[mine], n), _majorities(place[mine], flags[mine], n))


def _rounds(groups: Segments, row: Longs, number: Longs, usable: Bools) -> tuple[Bools, Bools, Bools]:
    """Entries of usable rounds; groups with any round; groups of whose rounds at least half are usable."""
    names, code = np.unique(number, return_inverse=True)
    key = groups.index[row] * len(names) + code
    cells = (len(groups), len(names))
    held = np.bincount(key, minlength=cells[0] * cells[1]) > 0
    broken = np.bincount(key[~usable], minlength=cells[0] * cells[1]) > 0
    rounds = held.reshape(cells).sum(axis=1)
    good = (held & ~broken).reshape(cells).sum(axis=1)
    return ~broken[key], rounds > 0, 2 * good >= rounds


def _lower_medians(place: Longs, checks: Ints, n: Longs) -> Longs:
    medians = np.empty((len(n), len(CHECKS)), dtype=np.int64)
    half = (n + 1) // 2
    for check in range(len(CHECKS)):
        cells = np.bincount((checks[:, check].astype(np.int64) - 1) * len(n) + place, minlength=_LEVELS * len(n))
        up_to = np.cumsum(cells.reshape(_LEVELS, len(n)), axis=0)
        medians[:, check] = 1 + (up_to < half).sum(axis=0)
    return medians


def _majorities(place: Longs, flags: Bools, n: Longs) -> Bools:
    counts = [np.bincount(place[flags[:, flag]], minlength=len(n)) for flag in range(len(FLAGS))]
    return 2 * np.stack(counts, axis=1) > n[:, None]
