"""Chance that is none: orders drawn by digest, the same for the same seed on every machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rubrics.digests import digest128


def draws(count: int, *seed: str | int) -> list[int]:
    """So many whole numbers below 2^128, as good as random, decided by the seed."""
    return [int(digest128([*seed, number]), 16) for number in range(count)]


def shuffled(items: Iterable[int], *seed: str | int) -> tuple[int, ...]:
    """The items in an order that the seed decides."""
    listed: Sequence[int] = tuple(items)
    drawn = draws(len(listed), "order", *seed)
    return tuple(item for _, item in sorted(zip(drawn, listed, strict=True)))
