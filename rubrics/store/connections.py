"""Connections to DuckDB that open the parts of a store and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from rubrics.errors import StoreError
from rubrics.store.schema import TABLES


def closed_connection(setting: str, paths: Sequence[Path]) -> duckdb.DuckDBPyConnection:
    """A connection that can open these files (`allowed_paths`), or what lies in these folders (`allowed_directories`),
    and nothing else, and whose settings no query can change."""
    connection = duckdb.connect()
    connection.execute(f"SET {setting} = $paths", {"paths": [str(path) for path in paths]})
    connection.execute("SET enable_external_access = false")
    connection.execute("SET autoinstall_known_extensions = false")
    connection.execute("SET lock_configuration = true")
    return connection


@contextmanager
def told_as_store_error(root: Path) -> Iterator[None]:
    """What DuckDB says of a part that cannot be read, or of a machine that is too small."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        way = "close other programs, or take a larger machine"
        raise StoreError(f"{root}: not enough memory: {str(error).splitlines()[0]}; {way}") from None
    except duckdb.Error as error:
        way = "`rubrics repair --check` names the part; put it back, or make the store again"
        raise StoreError(f"{root}: {str(error).splitlines()[0]}; {way}") from None


def check_unique(tables: Mapping[str, Sequence[Path]]) -> None:
    """Raises `StoreError` when rows of a table, given with its parts, share a key."""
    with duckdb.connect() as connection:
        for name, parts in tables.items():
            if not parts:
                continue
            key = ", ".join(f'"{column}"' for column in TABLES[name].key)
            source = "read_parquet($parts, hive_partitioning = false)"
            query = f"SELECT {key}, count(*) FROM {source} GROUP BY ALL HAVING count(*) > 1 LIMIT 1"
            for *values, times in connection.execute(query, {"parts": [str(part) for part in parts]}).fetchall():
                found = dict(zip(TABLES[name].key, values, strict=True))
                said = f"key {found} stands {times} times; keys are unique, nothing was written"
                raise StoreError(f"table {name}: {said}")
