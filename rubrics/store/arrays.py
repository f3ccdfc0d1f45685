"""Columns of Arrow tables as the engine's arrays, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


def floats(table: pa.Table, name: str) -> NDArray[np.float64]:
    """A column of numbers; null becomes NaN."""
    column = pc.fill_null(table.column(name).cast(pa.float64()), float("nan"))
    return np.asarray(column.to_numpy(), dtype=np.float64)


def codes(table: pa.Table, name: str, names: Sequence[str]) -> NDArray[np.int8]:
    """A column of words as indices into `names`; null, and a word that is not among them, becomes -1."""
    found = pc.index_in(table.column(name), value_set=pa.array(names, pa.string()))
    return np.asarray(pc.fill_null(found, -1).to_numpy(), dtype=np.int8)


def bools(table: pa.Table, name: str) -> NDArray[np.bool_]:
    """A column of booleans; null becomes false."""
    return np.asarray(pc.fill_null(table.column(name), False).to_numpy(), dtype=np.bool_)


def words(indices: NDArray[Any], names: Sequence[str]) -> pa.Array:
    """Indices as words; -1, and the name `""`, become null."""
    places = pa.array(indices.astype(np.int32), mask=indices < 0)
    return pa.array([name or None for name in names], pa.string()).take(places)


def whole_numbers(values: NDArray[Any]) -> pa.Array:
    """Whole numbers that are not negative; -1 becomes null."""
    return pa.array(values.astype(np.int64), mask=values < 0)


def truths(values: NDArray[np.int8]) -> pa.Array:
    """0 and 1 as booleans; -1 becomes null."""
    return pa.array(values > 0, mask=values < 0)


def placed(values: pa.Table, name: str, key: str, target: pa.Table) -> NDArray[np.float64]:
    """A column of numbers, brought to the rows of `target` with the same key; NaN where there is none."""
    found = pc.index_in(target.column(key), value_set=values.column(key)).combine_chunks()
    return floats(pa.table({name: values.column(name).take(found)}), name)


def run_starts(table: pa.Table, *names: str) -> NDArray[np.int64]:
    """First rows of the runs of neighbours with equal values in these columns."""
    changed = np.ones(table.num_rows, dtype=np.bool_)
    if table.num_rows:
        changed[1:] = False
        for name in names:
            encoded = table.column(name).combine_chunks().dictionary_encode()
            keys = pc.fill_null(encoded.indices, -1).to_numpy()
            changed[1:] |= keys[1:] != keys[:-1]
    return np.flatnonzero(changed)
