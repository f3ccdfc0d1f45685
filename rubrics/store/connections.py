"""Connections to DuckDB that open the parts of a store and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def check_keys(table: str, old: Sequence[Path], new: Sequence[Path]) -> None:
    """Raises `StoreError` when rows of the new parts of a table share a key, with each other or with an old one."""
    if not new:
        return
    names = TABLES[table].key
    key = ", ".join(f'"{column}"' for column in names)
    same = " AND ".join(f'old."{column}" IS NOT DISTINCT FROM new."{column}"' for column in names)
    source = "read_parquet({}, hive_partitioning = false)"
    query = f"SELECT {key}, count(*) FROM {source.format('$new')} GROUP BY ALL HAVING count(*) > 1 LIMIT 1"
    parameters = {"new": [str(part) for part in new]}
    with duckdb.connect() as connection:
        found = connection.execute(query, parameters).fetchall()
        if not found and old:
            both = f"{source.format('$new')} AS new SEMI JOIN {source.format('$old')} AS old ON {same}"
            parameters["old"] = [str(part) for part in old]
            found = connection.execute(f"SELECT {key}, 2 FROM {both} LIMIT 1", parameters).fetchall()
    for *values, times in found:
        said = f"key {dict(zip(names, values, strict=True))} stands {times} times; keys are unique, nothing was written"
        raise StoreError(f"table {table}: {said}")
