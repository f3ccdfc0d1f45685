"""The rows that a store holds of a table, each as a hash: which rows that come are new, or say something else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rubrics.store.schema import TABLES
from rubrics.store.store import Store

SEPARATOR = "\x1f"
"""Between the values of a key."""


class KnownRows:
    """Rows of one table by key. Holds 100 bytes or so per row, whatever is in it.

    Where a row was read (`source`) does not make it another one: dumps are moved and renamed.
    """

    def __init__(self, store: Store, table: str) -> None:
        self.table = table
        self._key = TABLES[table].key
        self._columns = [name for name in TABLES[table].columns.names if name != "source" or name in self._key]
        self._hashes = {self.key(row): self._hash(row) for batch in store.batches(table) for row in batch}
        self._seen: set[str] = set()
        self._replaced: set[str] = set()

    def new(self, rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Those rows that the store does not hold as they are. A key that came before is left out: the first counts."""
        found = []
        for row in rows:
            key = self.key(row)
            if key in self._seen:
                continue
            self._seen.add(key)
            known = self._hashes.get(key)
            if known is None or known != self._hash(row):
                found.append(row)
                if known is not None:
                    self._replaced.add(key)
        return found

    def drop(self, key: str) -> None:
        """A stored row goes unless it came again."""
        if key not in self._seen:
            self._replaced.add(key)

    def replaced(self) -> tuple[str, dict[str, list[str]]]:
        """A condition (with its parameters) on stored rows that go because others came in their place."""
        columns = f" || '{SEPARATOR}' || ".join(f'"{name}"' for name in self._key)
        return f"{columns} IN (SELECT unnest($replaced))", {"replaced": sorted(self._replaced)}

    @property
    def replaces(self) -> int:
        return len(self._replaced)

    @property
    def untouched(self) -> int:
        """Stored rows that did not come again."""
        return len(self._hashes.keys() - self._seen - self._replaced)

    def __contains__(self, key: str) -> bool:
        return key in self._hashes

    def key(self, row: Mapping[str, Any]) -> str:
        return SEPARATOR.join(str(row[name]) for name in self._key)

    def _hash(self, row: Mapping[str, Any]) -> int:
        return hash(tuple(tuple(v) if isinstance(v := row.get(name), list) else v for name in self._columns))
