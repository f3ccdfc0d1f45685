"""DuckDB views over the parts that the manifest names."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

import pyarrow as pa

from rubrics.content import content_folder
from rubrics.store.manifest import Manifest
from rubrics.store.schema import TABLES, Table

_SQL_TYPES = {
    pa.string(): "VARCHAR",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.list_(pa.string()): "VARCHAR[]",
}


def table_source(table: Table, manifest: Manifest, root: Path | None) -> str:
    """A FROM clause over the current parts; relative to the store, or absolute when `root` is given."""
    version = manifest.current(table.name)
    if version is None or not version.parts:
        columns = ", ".join(f'CAST(NULL AS {_SQL_TYPES[field.type]}) AS "{field.name}"' for field in table.columns)
        return f"(SELECT {columns} WHERE false)"
    parts = [part if root is None else str(root / part) for part in version.parts]
    listed = ", ".join("'" + part.replace("'", "''") + "'" for part in parts)
    return f"read_parquet([{listed}], hive_partitioning = false)"  # a folder `a=b` above the store is no column


def table_views(manifest: Manifest, root: Path | None = None) -> str:
    """One view per table that has one."""
    return "".join(
        f'CREATE OR REPLACE VIEW "{table.name}" AS SELECT * FROM {table_source(table, manifest, root)};\n'
        for table in TABLES.values()
        if table.has_view
    )


def derived_views(folder: str = "") -> str:
    """The views of `data/views/*.sql`, or of a folder there, each after those it names."""
    files = sorted((content_folder("data") / "views" / folder).glob("*.sql"))
    texts = {file.stem: file.read_text("utf-8").rstrip() + "\n" for file in files}
    needs = {
        name: {other for other in texts if other != name and re.search(rf"(\bFROM|\bJOIN|,)\s+{other}\b", text)}
        for name, text in texts.items()
    }
    return "".join(texts[name] for name in TopologicalSorter(needs).static_order())


def check_views() -> str:
    """Views that compute the reward table again; apart, because reading them takes most of a second."""
    return derived_views("checks")


def views_sql(manifest: Manifest) -> str:
    """The text of `views.sql`: relative paths, for `duckdb -init views.sql` started in the store."""
    return "-- Made by rubrics beside each manifest. Start `duckdb -init views.sql` in this folder.\n" + (
        table_views(manifest) + derived_views() + check_views()
    )
