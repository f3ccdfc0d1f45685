"""Frames handed to people: the home of pandas."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rubrics.errors import UsageError


def write_frame(table: pa.Table, path: Path) -> None:
    """Write rows as CSV or Parquet, by the file's ending. Raises `UsageError` for another ending or no folder."""
    if not path.parent.is_dir():
        raise UsageError(f"--output {path}: there is no folder {path.parent}; make it, or name another place")
    if path.suffix == ".csv":
        table.to_pandas().to_csv(path, index=False)
    elif path.suffix == ".parquet":
        pq.write_table(table, path, compression="zstd")
    else:
        raise UsageError(f"--output {path}: ends in {path.suffix!r}; wanted .csv or .parquet")
