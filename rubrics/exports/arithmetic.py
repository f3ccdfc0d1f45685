"""Whether a trainer's configuration leaves the stored advantages as they are (method, section 2.9).

reward_star minus its group's mean is the advantage. A uniform factor per group (leave-one-out) leaves the ratios and
the signs; division by a standard deviation and clipping that binds do not.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rubrics.errors import UsageError
from rubrics.exports.samples import Extent

ESTIMATORS = ("mean", "std", "loo")
STD = "division by a standard deviation rescales each group by its own spread, so the stored advantages are lost"


@dataclass(frozen=True, slots=True)
class Fact:
    """One setting of a trainer that the arithmetic depends on, by the last part of its name."""

    name: str
    breaks: Callable[[Any], bool]
    reason: str


CLIPS = ("clip_range", "reward_clip_range", "clip_reward")
"""Names under which trainers take the two bounds of reward clipping."""


def one_of(*values: str) -> Callable[[Any], bool]:
    return lambda value: str(value).lower() in values


def not_one_of(*values: str) -> Callable[[Any], bool]:
    return lambda value: str(value).lower() not in values


IS_ON = not_one_of("false", "0", "no", "off", "none", "null")
IS_OFF = one_of("false", "0", "no", "off", "none", "null")


def objections(
    facts: Iterable[Fact],
    settings: Iterable[tuple[str, Any]],
    estimator: str,
    clip: tuple[float, float] | None,
    extent: Extent,
    clips_advantage: bool,
) -> list[str]:
    """Every reason why the stored arithmetic would not survive; empty when it does."""
    found = [f"--estimator std: {STD}; use mean or loo"] if estimator == "std" else []
    bounds = [("--clip", clip)] if clip is not None else []
    known = list(facts)
    for key, value in settings:
        found += [f"{key}={value}: {fact.reason}" for fact in known if _is(key, fact.name) and fact.breaks(value)]
        if any(_is(key, name) for name in CLIPS) and (stated := _bounds(value)):
            bounds.append((key, stated))
    low, high = extent.advantages if clips_advantage else extent.rewards
    what = "advantages" if clips_advantage else "rewards"
    return found + [
        f"{key} {least:g} {most:g}: the exported {what} reach from {low:g} to {high:g}, so clipping would change them; "
        "widen it or switch it off"
        for key, (least, most) in bounds
        if low < least or high > most
    ]


def _is(key: str, name: str) -> bool:
    """Whether `--algorithm.norm-adv-by-std-in-grpo` and its like end in the name `norm_adv_by_std_in_grpo`."""
    return f".{key.lstrip('-+').replace('-', '_')}".endswith(f".{name}")


def _bounds(value: Any) -> tuple[float, float] | None:
    numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", str(value))]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None


def read_settings(given: Iterable[str], known: Iterable[str]) -> list[tuple[str, Any]]:
    """Settings from `KEY=VALUE`, a lone `KEY` (true), or a .json or .toml file.

    Raises `UsageError` for a file that cannot be read, and for a single key that is not among the known ones: a
    misspelt fact must not pass for a harmless one.
    """
    names = [*dict.fromkeys(known), *CLIPS]
    settings: list[tuple[str, Any]] = []
    for item in given:
        if item.endswith((".json", ".toml")) and "=" not in item:
            settings += _flat(_document(Path(item)), "")
            continue
        key, _, value = item.partition("=")
        if not any(_is(key, name) for name in names):
            raise UsageError(
                f"--trainer-config {item}: not a setting the arithmetic depends on; known: {', '.join(names)}"
            )
        settings.append((key, value if "=" in item else "true"))
    return settings


def _document(path: Path) -> Any:
    try:
        text = path.read_text("utf-8")
        return json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise UsageError(f"--trainer-config {path}: {error}; give a JSON or TOML file, or KEY=VALUE") from None


def _flat(value: Any, prefix: str) -> list[tuple[str, Any]]:
    if not isinstance(value, dict):
        return [(prefix, value)]
    return [pair for key, inner in value.items() for pair in _flat(inner, f"{prefix}.{key}" if prefix else str(key))]
