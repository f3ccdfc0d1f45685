"""Query results larger than memory, in pieces that keep what belongs together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from rubrics.errors import StoreError
from rubrics.store.store import Store


def stream(store: Store, sql: str, rows: int, parameters: dict[str, Any] | None = None) -> Iterator[pa.Table]:
    """The result in tables of at most `rows` rows, read as they are asked for."""
    with store.connect(sql) as connection:
        try:
            for batch in connection.sql(sql, params=parameters).to_arrow_reader(rows):
                yield pa.Table.from_batches([batch])
        except duckdb.Error as error:
            raise StoreError(f"{store.paths.root}: {error}") from None


def whole(tables: Iterator[pa.Table], key: str, rows: int) -> Iterator[pa.Table]:
    """The same rows cut where `key` changes: about `rows` rows a table.

    Rows with equal keys must be neighbours. A key with more rows stays whole.
    """
    waiting: list[pa.Table] = []
    for table in tables:
        waiting.append(table)
        if sum(part.num_rows for part in waiting) < rows:
            continue
        held = pa.concat_tables(waiting)
        cut = _last_key_starts(held.column(key))
        if cut:
            yield held.slice(0, cut).combine_chunks()
        waiting = [held.slice(cut)]
    if waiting:
        last = pa.concat_tables(waiting)
        if last.num_rows:
            yield last.combine_chunks()


def _last_key_starts(column: pa.ChunkedArray) -> int:
    """First row of the last key."""
    return int(pc.index(pc.equal(column, column[-1]), pa.scalar(True)).as_py())
