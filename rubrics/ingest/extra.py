"""What a dump says of an attempt beyond the record's fields: kept as one small JSON object, never with the answer in
it.

Kept are numbers, booleans, short texts, and lists and objects of them. Long texts, diffs, claims of success and what
gives the answer away are left out; what is left out is named in the census, but for the answer's own columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from rubrics import jsonio
from rubrics.ingest.items import Note, Source
from rubrics.ingest.patches import is_diff

MAX_BYTES = 64 * 1024
"""Largest object that is kept for one attempt; the largest values go first."""
MAX_TEXT = 500
"""Longest text that is kept, in characters."""
MAX_DEPTH = 4

CLAIMS = (
    "status", "resolved", "is_resolved", "passed", "success", "outcome", "score", "reward", "target", "test_outcome",
    "tests_passed", "all_results",
)  # fmt: skip
"""What an attempt may say of its own success; never an outcome, unless the caller trusts what the publisher
measured."""

_SEALED = re.compile(
    r"gold|reference|solution|hidden|test_patch|^patch$|hint|fail_to_pass|pass_to_pass|eval_?log|test_(?:output|log)|developer",
    re.IGNORECASE,
)
_NOTHING = object()


class Extra:
    """Collects what is kept of one attempt; `text` is the stored form and `notes` says what was left out."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._kept: dict[str, Any] = {}
        self._dropped: list[str] = []
        self._sealed = False

    def add(self, key: str, value: object) -> None:
        """Keep the value if it may be kept. Nothing (null, NaN, an empty list or object) is passed over."""
        if _is_nothing(value) or key in CLAIMS:
            return
        if _SEALED.search(key):
            self._sealed = True
            return
        kept = _storable(value, MAX_DEPTH)
        if kept is _NOTHING:
            self._dropped.append(key)
        else:
            self._kept[key] = kept

    def add_all(self, row: Mapping[str, Any], known: frozenset[str]) -> None:
        """Keep every column of the row that is not `known`."""
        for key, value in row.items():
            if key not in known:
                self.add(str(key), value)

    @property
    def text(self) -> str | None:
        """The object as JSON; null when nothing was kept."""
        text = jsonio.dumps(self._kept)
        while len(text) > MAX_BYTES:
            largest = max(self._kept, key=lambda key: len(jsonio.dumps(self._kept[key])))
            del self._kept[largest]
            self._dropped.append(largest)
            text = jsonio.dumps(self._kept)
        return text if self._kept else None

    def notes(self) -> Iterator[Note]:
        """What was left out; ask after `text`."""
        for key in self._dropped:
            detail = f"`{key[:60]}` is no column that is read, and too large or no plain value: not kept"
            yield self._source.note("column_dropped", detail, topic=key)
        if self._sealed:
            yield self._source.note("sealed_beside_attempt", "columns that give the answer away; not read")


def _is_nothing(value: object) -> bool:
    return value is None or value in ("", [], {}) or (isinstance(value, float) and value != value)


def _storable(value: object, depth: int) -> Any:
    """The value as it is kept; `_NOTHING` when it may not be."""
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else _NOTHING
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT and not is_diff(value) else _NOTHING
    if depth == 0 or not isinstance(value, (list, Mapping)):
        return _NOTHING if value is not None else None
    if isinstance(value, list):
        items = [_storable(item, depth - 1) for item in value]
        return _NOTHING if any(item is _NOTHING for item in items) else items
    inner = {str(key): _storable(item, depth - 1) for key, item in value.items() if not _SEALED.search(str(key))}
    return {key: item for key, item in inner.items() if item is not _NOTHING and key not in CLAIMS}
