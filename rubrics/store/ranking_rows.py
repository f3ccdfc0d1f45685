"""Rows of `rankings` as arrays over the rows of a chunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rubrics.store.arrays import bools


def ranking_arrays(
    rankings: pa.Table, inputs: pa.Table, checks: Sequence[str], flags: Sequence[str]
) -> tuple[NDArray[Any], ...]:
    """Row in the chunk, round, checks, flags and usability of each entry.

    An entry whose rollout is not in the chunk, or is in another group now than it was ranked in, is left out.
    """
    row = pc.index_in(rankings.column("rollout_id"), value_set=inputs.column("rollout_id"))
    same = pc.equal(inputs.column("group_id").take(row.combine_chunks()), rankings.column("group_id"))
    held = rankings.append_column("row", row).filter(pc.fill_null(same, False))
    levels = [pc.fill_null(held.column(name), 0).to_numpy() for name in checks]
    return (
        held.column("row").to_numpy().astype(np.int64),
        held.column("round").to_numpy().astype(np.int64),
        np.stack(levels, axis=1).clip(-1, 99).astype(np.int8),
        np.stack([bools(held, name) for name in flags], axis=1),
        bools(held, "usable"),
    )
