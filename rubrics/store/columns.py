"""The form of a table: what its columns may hold, by type and range or words, its key and order. One check for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rubrics.vocabulary import Fact

NARROW_ROW_GROUP = 20_000


@dataclass(frozen=True, slots=True)
class Column:
    """Null may stand anywhere; numbers are finite everywhere."""

    type: pa.DataType
    low: float | None = None
    """The least value; null: none."""
    high: float | None = None
    words: tuple[str, ...] = ()
    """The words that may stand; empty: any text."""
    whole: bool = False
    """A float that is a whole number."""

    def said(self) -> str:
        """The range in words, for an error."""
        if self.words:
            return f"one of {', '.join(self.words)}"
        if self.high is not None:
            return f"{self.low:g} or {self.high:g}" if self.whole else f"a number from {self.low:g} to {self.high:g}"
        return "a finite number" if self.low is None else f"a number of at least {self.low:g}"

    def outside(self, values: pa.ChunkedArray) -> pa.ChunkedArray | None:
        """True where a value lies outside; null when none can."""
        found = []
        if pa.types.is_floating(self.type):
            found.append(pc.invert(pc.is_finite(values)))
        if self.low is not None:
            found.append(pc.less(values, self.low))
        if self.high is not None:
            found.append(pc.greater(values, self.high))
        if self.whole:
            found.append(pc.not_equal(values, pc.round(values)))
        if self.words:
            found.append(pc.invert(pc.is_in(values, value_set=pa.array(self.words, pa.string()))))
        if not found:
            return None
        wrong = found[0]
        for more in found[1:]:
            wrong = pc.or_kleene(wrong, more)
        return pc.and_(pc.is_valid(values), pc.fill_null(wrong, False))


TEXT = Column(pa.string())
TEXTS = Column(pa.list_(pa.string()))
INT = Column(pa.int64())
COUNT = Column(pa.int64(), low=0)
LEVEL = Column(pa.int64(), low=1, high=5)
FLOAT = Column(pa.float64())
POSITIVE = Column(pa.float64(), low=0)
SHARE = Column(pa.float64(), low=0, high=1)
PASSED = Column(pa.float64(), low=0, high=1, whole=True)
BOOL = Column(pa.bool_())


def word(*words: str) -> Column:
    """A column that holds one of these."""
    return Column(pa.string(), words=words)


def of_fact(fact: Fact) -> Column:
    """The column of a measurement: counts are not negative, shares lie in [0, 1]."""
    if fact.type == "float":
        return SHARE if fact.unit == "share" else POSITIVE
    return {"int": COUNT, "bool": BOOL, "text": TEXT, "list": TEXTS}[fact.type]


@dataclass(frozen=True, slots=True)
class Table:
    """One table. Rows are unique by `key`; parts are sorted by `order`, then by the rest of the key."""

    name: str
    kinds: Mapping[str, Column]
    """What each column may hold, in the order of the columns."""
    key: tuple[str, ...]
    order: tuple[str, ...]
    row_group: int = NARROW_ROW_GROUP
    has_view: bool = True
    made_by: str = ""
    """The command that writes it."""
    columns: pa.Schema = field(init=False)

    def __post_init__(self) -> None:
        schema = pa.schema([pa.field(name, kind.type) for name, kind in self.kinds.items()])
        object.__setattr__(self, "columns", schema)

    @property
    def whole_order(self) -> tuple[str, ...]:
        """An order in which no two rows are equal."""
        return (*self.order, *(name for name in self.key if name not in self.order))

    def first_outside(self, rows: pa.Table) -> str | None:
        """The first value that its column may not hold, with its row's key; null when every value may stand."""
        for name, kind in self.kinds.items():
            wrong = kind.outside(rows.column(name))
            place = -1 if wrong is None else pc.index(wrong, True).as_py()
            if place >= 0:
                row = {part: _cell(rows, part, place) for part in self.key}
                return f"{name} is {_cell(rows, name, place)!r} in the row {row}; it holds {kind.said()}"
        return None


def _cell(rows: pa.Table, name: str, place: int) -> Any:
    return rows.column(name)[place].as_py()
