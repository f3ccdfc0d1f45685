"""Where the reward configuration is read from: the package's defaults, a person's file, the command line."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from rubrics.errors import UsageError
from rubrics.rewards.config import RewardConfig
from rubrics.rewards.settings import resolve
from rubrics.stages.options import Options


def defaults_text() -> str:
    """The TOML of all keys with their default values and meanings."""
    return (files("rubrics.rewards") / "defaults.toml").read_text("utf-8")


def reward_config(options: Options) -> RewardConfig:
    """The configuration that the options ask for. Raises `UsageError` where a file says something it may not."""
    values: dict[str, Any] = tomllib.loads(defaults_text())
    place = "defaults.toml"
    if options.config is not None:
        place = options.config
        values = _over(values, _read(Path(options.config)))
    if options.factors is not None:
        values["factors"] = list(options.factors)
    return resolve(values, place)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: no TOML: {error}; see docs/rewards.md for the keys") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}; name a TOML file of the reward configuration") from None


def _over(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the values of `top`; tables are merged key by key."""
    merged = dict(base)
    for name, value in top.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(name), Mapping)
        merged[name] = _over(merged[name], value) if both else value
    return merged
