"""The pieces that all readers are made of: each checks one thing strictly by type, and says where it is wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import Any

from rubrics.replies.examples import is_placeholder
from rubrics.replies.kinds import unusable
from rubrics.visible import one_line, shortened

Place = tuple[str | int, ...]
"""Fields and indices that lead to a value from the reply's top; made into words only for a message."""
_SAYS_SOMETHING = re.compile(r"(?:[\W_]*[^\W_]){3}")
"""A reason has three letters or digits at least."""


def fields(value: Any, names: Sequence[str], place: Place) -> list[Any]:
    """The values of an object that has exactly these fields, in the order of the names."""
    if not isinstance(value, dict):
        raise unusable("shape", f"{at(place)} is {shown(value)}; wanted an object with {', '.join(names)}")
    if len(value) == len(names):
        try:
            return [value[name] for name in names]
        except KeyError:
            pass
    unknown = [name for name in value if name not in names]
    for name in unknown:
        _refuse_placeholder(name, place)
    wrong = [f"no {name}" for name in names if name not in value] + [f"an unknown field {shown(n)}" for n in unknown]
    raise unusable("shape", f"{at(place)} has {', '.join(wrong)[:500]}; wanted exactly {', '.join(names)}")


def complete(value: Any, names: Sequence[str], noun: str, place: Place) -> list[Any]:
    """The values of an object that is keyed by exactly these names: `missing_<noun>` or `unknown_<noun>` otherwise."""
    if not isinstance(value, dict):
        raise unusable("shape", f"{at(place)} is {shown(value)}; wanted an object with one field for each {noun}")
    if len(value) != len(names) or any(name not in value for name in names):
        for name in value:
            _refuse_placeholder(name, place)
            if name not in names:
                raise unusable(f"unknown_{noun}", f"{at(place)} has {shown(name)}; asked: {', '.join(names)[:500]}")
        missing = ", ".join(name for name in names if name not in value)
        raise unusable(f"missing_{noun}", f"{at(place)} lacks {missing[:500]}; answer for all of them")
    return [value[name] for name in names]


def text(value: Any, place: Place) -> str:
    """Text that is not blank and no placeholder."""
    if not isinstance(value, str) or not value or value.isspace():
        raise unusable("shape", f"{at(place)} is {shown(value)}; wanted text")
    _refuse_placeholder(value, place)
    return value


def text_or_null(value: Any, place: Place) -> str | None:
    return None if value is None else text(value, place)


def reason(value: Any, place: Place, other_than: Collection[str] = ()) -> str:
    """A reason: some letters or digits, and not one of the words that it is the reason of."""
    if not isinstance(value, str):
        raise unusable("shape", f"{at(place)} is {shown(value)}; wanted text")
    _refuse_placeholder(value, place)
    if _SAYS_SOMETHING.match(value) is None or value.strip().casefold() in map(str.casefold, other_than):
        raise unusable("no_reason", f"{at(place)} is {shown(value)}; wanted why, in a sentence")
    return value


def yes_or_no(value: Any, place: Place) -> bool:
    if not isinstance(value, bool):
        raise unusable("shape", f"{at(place)} is {shown(value)}; wanted true or false")
    return value


def one_of(value: Any, allowed: Sequence[str], place: Place, kind: str = "shape") -> str:
    """One of the words, letter by letter; `kind` is that of another word, `shape` that of another type."""
    if not isinstance(value, str):
        raise unusable("shape", f"{at(place)} is {shown(value)}; wanted text")
    if value not in allowed:
        _refuse_placeholder(value, place)
        raise unusable(kind, f"{at(place)} is {shown(value)}; wanted one of {', '.join(allowed)[:500]}")
    return value


def whole(value: Any, low: int, high: int, place: Place) -> int:
    """A number written as an integer, within the range."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise unusable("shape", f"{at(place)} is {shown(value)}; wanted an integer from {low} to {high}")
    if not low <= value <= high:
        raise unusable("off_range", f"{at(place)} is {shown(value)}; wanted an integer from {low} to {high}")
    return value


def above_zero(value: Any, high: float, place: Place) -> float:
    """A number above 0 and at most `high`."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise unusable("shape", f"{at(place)} is {shown(value)}; wanted a number")
    if (isinstance(value, float) and not math.isfinite(value)) or not 0 < value <= high:
        raise unusable("off_range", f"{at(place)} is {shown(value)}; wanted a number above 0, at most {high:g}")
    return float(value)


def items(value: Any, place: Place, most: int | None = None) -> list[Any]:
    if not isinstance(value, list):
        raise unusable("shape", f"{at(place)} is {shown(value)}; wanted a list")
    if most is not None and len(value) > most:
        raise unusable("shape", f"{at(place)} has {len(value)} entries; at most {most}")
    return value


def at(place: Place) -> str:
    """The place in words: `verdicts.keeps-order.evidence[0].quote`."""
    words = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return words.removeprefix(".") or "the reply"


def shown(value: Any) -> str:
    """An untrusted value in a message: short, on one line, nothing hidden in it."""
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    if isinstance(value, str):
        return f"the text {shortened(one_line(value), 120)!r}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and abs(value) >= 10**20:
        return "a number of more than 20 digits"
    return repr(value)


def _refuse_placeholder(value: str, place: Place) -> None:
    if is_placeholder(value):
        raise unusable("echoed_example", f"{at(place)} repeats the example: {shown(value)}; answer in its place")
