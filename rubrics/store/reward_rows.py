"""The engine's arrays as rows of the `rewards` table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from rubrics.errors import StoreError
from rubrics.store.schema import REWARDS


def reward_table(columns: Mapping[str, Any], rows: int) -> pa.Table:
    """Columns as arrays, lists or Arrow columns; NaN becomes null; a column that is not given is null throughout.

    Raises `StoreError` for a column that the schema does not have.
    """
    unknown = columns.keys() - set(REWARDS.columns.names)
    if unknown:
        raise StoreError(f"table rewards: no column {sorted(unknown)}; see store/schema.py")
    return pa.table({field.name: _column(columns.get(field.name), field.type, rows) for field in REWARDS.columns})


def _column(values: Any, kind: pa.DataType, rows: int) -> pa.Array | pa.ChunkedArray:
    if values is None:
        return pa.nulls(rows, kind)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values.cast(kind)
    if isinstance(values, str):
        return pa.array(np.full(rows, values, dtype=object), kind)
    return pa.array(values, kind, from_pandas=True)
