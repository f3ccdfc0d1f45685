"""DuckDB views over the parts that the manifest names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pyarrow as pa

from rubrics.content import content_folder
from rubrics.store.columns import Table
from rubrics.store.manifest import Manifest
from rubrics.store.schema import TABLES

_WORD = re.compile(r"\w+")
_CATALOGUES = ("information_schema", "duckdb_", "pg_", "sqlite_")

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
    return parts_source([Path(part) if root is None else root / part for part in version.parts])


def parts_source(parts: Sequence[Path]) -> str:
    """A FROM clause over some parts."""
    listed = ", ".join("'" + str(part).replace("'", "''") + "'" for part in parts)
    return f"read_parquet([{listed}], hive_partitioning = false)"  # a folder `a=b` above the store is no column


def table_views(manifest: Manifest, root: Path | None = None, only: frozenset[str] | None = None) -> str:
    """One view per table that has one, or of those named by `only`."""
    return "".join(
        f'CREATE OR REPLACE VIEW "{table.name}" AS SELECT * FROM {table_source(table, manifest, root)};\n'
        for table in TABLES.values()
        if table.has_view and (only is None or table.name in only)
    )


def derived_views(folder: str = "") -> str:
    """The views of `data/views/*.sql`, or of a folder there, each after those it names."""
    return "".join(_view_texts(folder).values())


def check_views() -> str:
    """Views that compute the reward table again; apart, because reading them takes most of a second."""
    return derived_views("checks")


def named_views(sql: str, manifest: Manifest, root: Path) -> str:
    """The views that a query may mean, with those they rest on: binding all of them takes longer than most queries.

    A query about the catalogue gets all but the check views.
    """
    if any(word.startswith(_CATALOGUES) for word in _words(sql)):
        return table_views(manifest, root) + derived_views()
    words = _meant(sql)
    texts = {**_view_texts(""), **_view_texts("checks")}
    named = "".join(text for name, text in texts.items() if name in words)
    return table_views(manifest, root, only=frozenset(words)) + named


def tables_meant(sql: str) -> list[str]:
    """The tables that a query may read, by itself or through views."""
    words = _meant(sql)
    return [name for name, table in TABLES.items() if table.has_view and name in words]


def _meant(sql: str) -> set[str]:
    """The words of a query and of the views that it names."""
    words = _words(sql)
    texts = {**_view_texts(""), **_view_texts("checks")}
    for name in reversed(texts):  # a view stands after those it names
        if name in words:
            words |= _words(texts[name])
    return words


def _words(sql: str) -> set[str]:
    return set(_WORD.findall(sql.lower()))


@cache
def _view_texts(folder: str) -> dict[str, str]:
    """The text of each view of a folder by its name, each after those it names."""
    files = sorted((content_folder("data") / "views" / folder).glob("*.sql"))
    texts = {file.stem: file.read_text("utf-8").rstrip() + "\n" for file in files}
    needs = {
        name: {other for other in texts if other != name and re.search(rf"(\bFROM|\bJOIN|,)\s+{other}\b", text)}
        for name, text in texts.items()
    }
    return {name: texts[name] for name in TopologicalSorter(needs).static_order()}


def views_sql(manifest: Manifest) -> str:
    """The text of `views.sql`: relative paths, for `duckdb -init views.sql` started in the store."""
    return "-- Made by rubrics beside each manifest. Start `duckdb -init views.sql` in this folder.\n" + (
        table_views(manifest) + derived_views() + check_views()
    )
