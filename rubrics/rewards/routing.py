"""Which rule makes a group's reward (method 4)."""

from __future__ import annotations

import numpy as np

from rubrics.rewards.arrays import Bools, Ints
from rubrics.rewards.segments import Segments, divided

ROUTES = ("grs", "gar", "plain")
GRS, GAR, PLAIN = range(3)


def routes(units: Segments, known: Bools, passes: Bools, grs_from: float) -> Ints:
    """One route per unit (task or group), from the pass rate of its known outcomes after hack reset.

    At least `grs_from`: grs. None passing, or nothing known: plain. Else gar. Whether a pass is graded plays no
    part: that question depends on the route.
    """
    passing = units.count(passes)
    rate = divided(passing, units.count(known))
    chosen = np.where(rate >= grs_from, np.int8(GRS), np.int8(GAR))
    return np.where(passing == 0, np.int8(PLAIN), chosen)
