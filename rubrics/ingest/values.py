"""Fields of rows, checked: a value of the wrong type costs its row, with place and remedy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rubrics import jsonio
from rubrics.ingest.documents import storable
from rubrics.ingest.items import Source

Row = Mapping[str, Any]

_LARGEST = 2**63
_BOOLEANS = {"true": True, "1": True, "1.0": True, "yes": True, "false": False, "0": False, "0.0": False, "no": False}
_NOTHING = frozenset({"", "null", "none", "nan", "unknown"})


def name_of(row: Row, source: Source, *keys: str) -> str:
    """The first of `keys` that the row has, as a name; it must have one."""
    for key in keys:
        value = row.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    raise source.wrong(f"keys {_keys(row)}", f"a name under `{keys[0]}`", f"Add `{keys[0]}` to this row.")


def text_or_none(row: Row, *keys: str) -> str | None:
    """The first text that is not empty under one of `keys`."""
    for key in keys:
        value = row.get(key)
        if isinstance(value, str) and value:
            return value
    return None


def inside(row: Row, key: str) -> Row:
    """The object under `key`; an empty one when there is none."""
    value = row.get(key)
    return value if isinstance(value, Mapping) else {}


def int_or_none(row: Row, key: str, source: Source) -> int | None:
    """A whole number, or null."""
    value = row.get(key)
    if value is None or value == "":
        return None
    number = whole(value)
    if number is None:
        raise source.wrong(f"`{key}` = {str(value)[:60]!r}", "a whole number or null", f"Correct `{key}`.")
    return number


def whole(value: object) -> int | None:
    """The value as a whole number that fits 64 bits; null when it is none."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and value.strip().removeprefix("-").isdecimal() and len(value) < 20:
        value = int(value)
    return value if isinstance(value, int) and -_LARGEST <= value < _LARGEST else None


def count(value: object) -> int | None:
    """A number of tokens or turns; null when it is none or negative."""
    if value is None:
        return None
    number = None if isinstance(value, str) else whole(value)
    return number if number is not None and number >= 0 else None


def resolved_or_none(value: object, source: Source) -> bool | None:
    """Whether an attempt resolved its task, by a boolean, 0/1 or their text; null when nobody knows."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float) and value != value:
        return None
    word = str(value).strip().lower() if isinstance(value, (int, float, str)) else "?"
    if word in _NOTHING:
        return None
    if word not in _BOOLEANS:
        raise source.wrong(f"`resolved` = {str(value)[:60]!r}", "true, false, 1, 0 or null", "Correct `resolved`.")
    return _BOOLEANS[word]


def names_list(value: object, field: str, source: Source) -> tuple[str, ...]:
    """A list of names, also when it is written as JSON inside a string; junk inside the names is kept."""
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        try:
            value = storable(jsonio.loads(value))
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, (list, tuple)):
        raise source.wrong(f"`{field}` is no list", "a list of names or JSON text of one", f"Correct `{field}`.")
    return tuple(item if isinstance(item, str) else str(item) for item in value)


def plain_text(content: object) -> str:
    """The text of a message's content: text, parts of text, or null."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list):
        return "\n".join(_part(part) for part in content)
    return str(content)


def _part(part: object) -> str:
    if isinstance(part, Mapping):
        text = part.get("text")
        return text if isinstance(text, str) else f"[{part.get('type', 'part')}]"
    return str(part)


def _keys(row: Row) -> str:
    return ", ".join(str(key) for key in list(row)[:12]) or "none"
