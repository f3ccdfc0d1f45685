"""What tokens cost. A price that is not known makes the cost null, never 0. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rubrics.records.models import Usage


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per token."""

    input: float
    output: float
    cached: float
    """Input that the provider served from its cache of prefixes."""
    above: tuple[int, float, float, float] | None = None
    """Prompt tokens beyond which the whole request costs more, and what it then costs (input, output, cached)."""


def cost(price: Price | None, usage: Usage) -> float | None:
    """Dollars of one answer; null without a price or without counts. An unsaid cached share counts as fresh."""
    if price is None or usage.prompt is None or usage.completion is None:
        return None
    asked, made, kept = price.input, price.output, price.cached
    if price.above is not None and usage.prompt > price.above[0]:
        _, asked, made, kept = price.above
    cached = min(usage.cached or 0, usage.prompt)
    return (usage.prompt - cached) * asked + cached * kept + usage.completion * made


def per_million(price: tuple[float, float, float]) -> Price:
    """From the setting: input, output, cached dollars per million tokens."""
    asked, made, kept = price
    return Price(asked / 1e6, made / 1e6, kept / 1e6)


def from_map(entry: Mapping[str, Any] | None) -> Price | None:
    """From an entry of litellm's price map; null when it does not say what input and output cost.

    Without a price of its own cached input costs as much as fresh input. Not covered: prices for writing a cache,
    batches, priority tiers.
    """
    if entry is None or not _known(entry, "input_cost_per_token", "output_cost_per_token"):
        return None
    asked, made = entry["input_cost_per_token"], entry["output_cost_per_token"]
    kept = entry.get("cache_read_input_token_cost")
    kept = asked if kept is None else kept
    found = [re.fullmatch(r"input_cost_per_token_above_(\d+)k_tokens", name) for name in entry]
    tiers = sorted(int(match[1]) for match in found if match)
    if not tiers:
        return Price(asked, made, kept)
    ending = f"_above_{tiers[0]}k_tokens"
    dear = (
        entry.get(f"input_cost_per_token{ending}") or asked,
        entry.get(f"output_cost_per_token{ending}") or made,
        entry.get(f"cache_read_input_token_cost{ending}") or kept,
    )
    return Price(asked, made, kept, (tiers[0] * 1000, *dear))


def _known(entry: Mapping[str, Any], *names: str) -> bool:
    return all(isinstance(entry.get(name), int | float) for name in names)
