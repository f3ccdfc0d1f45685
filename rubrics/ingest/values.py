"""Fields of rows, checked. What a row cannot do without costs the row when it is wrong; the rest is read as null and
noted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from math import isinf, isnan
from typing import Any

from rubrics import jsonio
from rubrics.ingest.documents import storable
from rubrics.ingest.items import Note, Source

Row = Mapping[str, Any]

_LARGEST = 2**63
_WHOLE = re.compile(r"\s*(-?[0-9]{1,19})(?:\.0+)?\s*")


class Ignored:
    """Collects values that were read as null, by column and kind of value."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str]] = Counter()

    def add(self, key: str, value: object, wanted: str) -> None:
        """The value under `key` was read as null."""
        self._counts[key, _found(value), wanted] += 1

    def count(self, row: Row, key: str) -> int | None:
        """A number of tokens or turns under `key`, or null."""
        value = row.get(key)
        if value is None:
            return None
        number = value if type(value) is int and 0 <= value < _LARGEST else count(value)
        if number is None:
            self.add(key, value, "a whole number of at least 0")
        return number

    def whole(self, row: Row, key: str) -> int | None:
        """A whole number under `key`, or null."""
        value = row.get(key)
        if value is None:
            return None
        number = value if type(value) is int and 0 <= value < _LARGEST else whole(value)
        if number is None:
            self.add(key, value, "a whole number")
        return number

    def notes(self, source: Source) -> Iterator[Note]:
        """A note for each column and kind of value."""
        for (key, found, wanted), number in self._counts.items():
            detail = f"`{key}` is {found}, wanted {wanted}; read as null"
            yield source.note("value_ignored", detail, count=number, topic=f"{key} {found}")


class Fields:
    """One row. Its getters give a value of the asked type or null; what they could not use is collected in
    `ignored`."""

    def __init__(self, row: Row, source: Source) -> None:
        self.row = row
        self.source = source
        self.ignored = Ignored()

    @property
    def notes(self) -> Iterator[Note]:
        return self.ignored.notes(self.source)

    def required(self, *keys: str) -> str:
        """The first name under one of `keys`. Raises `InputError` when there is none."""
        return name_of(self.row, self.source, *keys)

    def name(self, *keys: str) -> str | None:
        """The first name under one of `keys`: text, or a whole number written as text."""
        return self._first(keys, _name, "a name")

    def text(self, *keys: str) -> str | None:
        """The first text that is not empty under one of `keys`."""
        return self._first(keys, lambda value: value if isinstance(value, str) else None, "text")

    def _first(self, keys: tuple[str, ...], read: Callable[[object], str | None], wanted: str) -> str | None:
        for key in keys:
            value = self.row.get(key)
            if value is None or value == "":
                continue
            if (text := read(value)) is not None:
                return text
            self.ignored.add(key, value, wanted)
        return None

    def count(self, key: str) -> int | None:
        """A number of tokens or turns, or null."""
        return self.ignored.count(self.row, key)

    def index(self, key: str) -> int | None:
        """A whole number of at least 0 that tells attempts apart, or null. Raises `InputError` for anything else, but
        not for NaN, which is how tables write null."""
        number = self.whole(key)
        if number is not None and number < 0:
            raise self.source.wrong(f"`{key}` = {number}", "a whole number of at least 0, or null", f"Correct `{key}`.")
        return number

    def whole(self, key: str) -> int | None:
        """A whole number or null. Raises `InputError` for anything else, but not for NaN."""
        value = self.row.get(key)
        if value is None or value == "":
            return None
        if is_nan(value):
            self.ignored.add(key, value, "a whole number")
            return None
        number = whole(value)
        if number is None:
            shown = f"{value!r}"[:60]
            raise self.source.wrong(f"`{key}` = {shown}", "a whole number or null", f"Correct `{key}`.")
        return number


def name_of(row: Row, source: Source, *keys: str) -> str:
    """The first of `keys` that the row has, as a name; it must have one."""
    for key in keys:
        if (name := _name(row.get(key))) is not None:
            return name
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
    return value if isinstance(value, (dict, Mapping)) else {}


def whole(value: object) -> int | None:
    """The value as a whole number that fits 64 bits, also from its text; null when it is none."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and len(value) < 30 and (text := _WHOLE.fullmatch(value)):
        value = int(text[1])
    return value if isinstance(value, int) and -_LARGEST <= value < _LARGEST else None


def count(value: object) -> int | None:
    """A number of tokens or turns; null when it is none or negative."""
    number = None if isinstance(value, str) else whole(value)
    return number if number is not None and number >= 0 else None


def names_list(value: object, field: str, source: Source) -> tuple[str, ...]:
    """A list of names, also when it is written as JSON inside a string; junk inside the names is kept."""
    if value is None or value == "" or is_nan(value):
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
    if content is None or is_nan(content):
        return ""
    if isinstance(content, list):
        return "\n".join(_part(part) for part in content)
    return str(content)


def is_nan(value: object) -> bool:
    """Whether the value is a float that is no number: null, as tables write it."""
    return isinstance(value, float) and isnan(value)


def _name(value: object) -> str | None:
    """Text that is not blank as it stands, or a whole number as text."""
    if isinstance(value, str):
        return value if value.strip() else None
    number = whole(value)
    return None if number is None else str(number)


def _found(value: object) -> str:
    """What a value is, in words that many values share."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        if is_nan(value):
            return "NaN"
        if isinstance(value, float) and isinf(value):
            return "infinite"
        if abs(value) >= _LARGEST:
            return "out of range"
        return "negative" if value < 0 else "a number" if float(value).is_integer() else "a fraction"
    if isinstance(value, str):
        return "text" if value.strip() else "blank"
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, Mapping) else type(value).__name__


def _part(part: object) -> str:
    if isinstance(part, Mapping):
        text = part.get("text")
        return text if isinstance(text, str) else f"[{part.get('type', 'part')}]"
    return str(part)


def _keys(row: Row) -> str:
    return ", ".join(str(key)[:40] for key in list(row)[:12]) or "none"
