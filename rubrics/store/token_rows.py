"""Token weights as rows: one per flagged turn, one for the other turns of a rollout."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rubrics.store.schema import TOKEN_WEIGHTS

CLEAN = "clean"


def span_table(
    rollouts: pa.Table, clean: NDArray[np.float64], flagged: NDArray[np.float64], config_digest: str, version: str
) -> pa.Table:
    """Rows of `token_weights`; NaN: no row. Multipliers of 1 are left out.

    `rollouts` has `task_id`, `rollout_id`, `clean_tokens` and the lists `turns`, `kinds` and `turn_tokens`.
    """
    others = np.flatnonzero(~np.isnan(clean) & (clean != 1))
    whole = rollouts.take(others)
    lists = rollouts.append_column("multiplier", pa.array(flagged, from_pandas=True))
    lists = lists.filter(pc.is_valid(lists.column("multiplier"))).combine_chunks()
    owner = pc.list_parent_indices(lists.column("turns"))
    parts = [
        {
            "task_id": whole.column("task_id"),
            "rollout_id": whole.column("rollout_id"),
            "turn": pa.nulls(len(others), pa.int64()),
            "kind": pa.array([CLEAN] * len(others), pa.string()),
            "multiplier": pa.array(clean[others]),
            "tokens": whole.column("clean_tokens"),
        },
        {
            "task_id": lists.column("task_id").take(owner),
            "rollout_id": lists.column("rollout_id").take(owner),
            "turn": pc.list_flatten(lists.column("turns")),
            "kind": pc.list_flatten(lists.column("kinds")),
            "multiplier": lists.column("multiplier").take(owner),
            "tokens": pc.list_flatten(lists.column("turn_tokens")),
        },
    ]
    ends = {"config_digest": config_digest, "engine_version": version}
    tables = []
    for columns in parts:
        rows = len(columns["turn"])
        columns |= {name: pa.repeat(pa.scalar(value, pa.string()), rows) for name, value in ends.items()}
        tables.append(pa.table(columns).select(TOKEN_WEIGHTS.columns.names).cast(TOKEN_WEIGHTS.columns))
    spans = pa.concat_tables(tables)
    return spans.filter(pc.not_equal(spans.column("multiplier"), 1.0))
