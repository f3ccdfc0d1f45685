"""Checks a configuration that a person wrote: every key known, every value of its type and in its range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from itertools import pairwise
from math import inf, isfinite
from typing import Any

from rubrics.errors import UsageError
from rubrics.records.rubrics import KINDS
from rubrics.rewards.centring import ESTIMATORS
from rubrics.rewards.config import MEASURES, RewardConfig

ROUTINGS = ("task", "group", "grs")


@dataclass(frozen=True, slots=True)
class _Number:
    low: float = 0.0
    high: float = inf
    above: bool = False
    """Whether `low` itself is refused."""

    def wanted(self) -> str:
        lower = f"above {self.low:g}" if self.above else f"of at least {self.low:g}"
        return f"a number {lower}" + ("" if self.high == inf else f" and at most {self.high:g}")

    def read(self, value: Any) -> float | None:
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            return None
        inside = (value > self.low if self.above else value >= self.low) and value <= self.high
        return float(value) if inside else None


@dataclass(frozen=True, slots=True)
class _OneOf:
    names: tuple[str, ...]

    def wanted(self) -> str:
        return "one of " + ", ".join(f'"{name}"' for name in self.names)

    def read(self, value: Any) -> str | None:
        return value if isinstance(value, str) and value in self.names else None


@dataclass(frozen=True, slots=True)
class _Names:
    known: tuple[str, ...] | None = None
    """Names that may be given; null: any word."""

    def wanted(self) -> str:
        return f"a list of {', '.join(self.known) if self.known else 'names'}, each at most once"

    def read(self, value: Any) -> tuple[str, ...] | None:
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) and item for item in value):
            return None
        known = self.known is None or set(value) <= set(self.known)
        return tuple(value) if known and len(set(value)) == len(value) else None


_SHARE = _Number(0, 1)
_FACTOR = _Number(0, 1, above=True)
_RULES: dict[str, _Number | _OneOf | _Names] = {
    "factors": _Names(KINDS),
    "routing": _OneOf(ROUTINGS),
    "grs_from": _FACTOR,
    "estimator": _OneOf(ESTIMATORS),
    "std_eps": _Number(),
    "length.penalty": _SHARE,
    "length.measures": _Names(MEASURES),
    "length.quantile": _SHARE,
    "length.tolerance": _Number(),
    "length.saturation": _Number(0, above=True),
    "length.exponent": _Number(0, above=True),
    "length.gate": _SHARE,
    "gar.cap": _Number(1),
    "quality.first_best": _FACTOR,
    "quality.first_other": _FACTOR,
    "quality.second_best": _FACTOR,
    "quality.second_worst": _FACTOR,
    "quality.third": _FACTOR,
    "tokens.flags": _Names(),
    "tokens.kappa": _Number(1),
    "tokens.beta_min": _SHARE,
    "tokens.alpha_max": _Number(1),
}


def resolve(values: Mapping[str, Any], place: str) -> RewardConfig:
    """The defaults, with what `values` says put over them. Raises `UsageError` naming key, value and what is wanted.

    `place` is where the values stand, for messages.
    """
    config: RewardConfig = _filled(RewardConfig, values, place, "")
    length, quality = config.length, config.quality
    if length.saturation <= length.tolerance:
        found = f"length.saturation = {length.saturation:g} with length.tolerance = {length.tolerance:g}"
        raise UsageError(f"{place}: {found}; wanted a saturation above the tolerance")
    ladder = (quality.first_best, quality.first_other, quality.second_best, quality.second_worst, quality.third)
    if any(better < worse for better, worse in pairwise(ladder)):
        raise UsageError(f"{place}: quality = {list(ladder)}; wanted factors that do not rise from best to worst")
    return config


def _filled(kind: Any, values: Mapping[str, Any], place: str, prefix: str) -> Any:
    default = kind()
    names = [item.name for item in fields(kind)]
    for name in values:
        if name not in names:
            raise UsageError(f"{place}: {prefix}{name}: no such key; wanted one of {', '.join(names)}")
    return kind(**{name: _value(getattr(default, name), values[name], place, prefix + name) for name in values})


def _value(default: Any, value: Any, place: str, key: str) -> Any:
    if is_dataclass(default):
        if not isinstance(value, Mapping):
            raise UsageError(f"{place}: {key} = {value!r}; wanted a table: [{key}]")
        return _filled(type(default), value, place, f"{key}.")
    rule = _RULES[key]
    read = rule.read(value)
    if read is None:
        raise UsageError(f"{place}: {key} = {value!r}; wanted {rule.wanted()}")
    return read
