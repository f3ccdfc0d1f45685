"""How numbers are written wherever a reward is explained. Pure."""

from __future__ import annotations


def number(value: float) -> str:
    """At most six decimals, no trailing zeros: terminal and page write the same."""
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
