"""Rows of a Parquet file, a small batch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rubrics.ingest.items import FileRef, Source

BATCH = 64
"""Rows that are in memory at once."""


def rows_of(file: FileRef) -> Iterator[tuple[Source, dict[str, Any]]]:
    """Each row with its place. Columns that are null are left out. Raises `InputError` when it cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = Source(file)
    number = 0
    try:
        with pq.ParquetFile(file.path) as parquet:
            for batch in parquet.iter_batches(batch_size=BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield source.at(f"row {number}"), {key: item for key, item in row.items() if item is not None}
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        found = " ".join(str(error).split())[:200]
        place = source.at(f"row {number + 1}")
        raise place.wrong(found, "a readable Parquet file", "Write the file again.", kind="unreadable") from None
