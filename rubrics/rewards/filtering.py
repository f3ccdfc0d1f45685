"""The group filter (method 2.6): groups that carry no signal are dropped, judged by their final rewards."""

from __future__ import annotations

import numpy as np

from rubrics.rewards.arrays import EQUAL, Bools, Floats, Ints
from rubrics.rewards.routing import GAR
from rubrics.rewards.segments import Segments

MIN_VALID = 2
DROP_REASONS = ("", "too_few_valid", "one_outcome", "equal_rewards")
KEPT, TOO_FEW, ONE_OUTCOME, ALL_EQUAL = range(4)


def drop_reasons(groups: Segments, reward: Floats, valid: Bools, passes: Bools, route: Ints) -> Ints:
    """Index into `DROP_REASONS` per group, the first that holds; `route` and the result are one per group.

    A gar group without both a pass and a failure is dropped also when its rewards differ.
    """
    n_valid = groups.count(valid)
    n_passes = groups.count(passes)
    drop = np.zeros(len(groups), dtype=np.int8)
    drop[groups.spread(reward, valid) <= EQUAL] = ALL_EQUAL
    drop[(route == GAR) & ((n_passes == 0) | (n_passes == n_valid))] = ONE_OUTCOME
    drop[n_valid < MIN_VALID] = TOO_FEW
    return drop
