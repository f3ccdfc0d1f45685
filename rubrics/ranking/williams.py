"""In which order the candidates of a round are shown: rows of a row-complete Williams square (method 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from rubrics.ranking.seeding import shuffled

Order = tuple[int, ...]


def square(n: int) -> tuple[Order, ...]:
    """Orders of the candidates 0 to n-1 that are balanced when all of them are used.

    Every candidate stands equally often in every place, and every one comes equally often right after every other.
    n orders for an even n, 2n for an odd one. Raises `ValueError` for n < 1.
    """
    if n < 1:
        raise ValueError(f"a square of {n} candidates; wanted at least 1")
    zigzag = [(place + 1) // 2 if place % 2 else -(place // 2) for place in range(n)]
    rows = tuple(tuple((step + shift) % n for step in zigzag) for shift in range(n))
    return rows if n % 2 == 0 else rows + tuple(row[::-1] for row in rows)


def orders(n: int, rounds: int, *seed: str | int) -> tuple[Order, ...]:
    """One order per round. The seed decides which candidate takes which place of the square, and which rows come.

    As often as the square fits into the rounds, all of it is used. The rounds that are left take the rows that keep
    the places most even, then the mean place of each candidate, then the neighbours.
    """
    who = shuffled(range(n), "who", *seed)
    rows = [tuple(who[symbol] for symbol in row) for row in square(n)]
    chosen: list[Order] = []
    for cycle in range(-(-rounds // len(rows))):
        left = [rows[place] for place in shuffled(range(len(rows)), "rows", cycle, *seed)]
        taken: list[Order] = []
        while left and len(chosen) + len(taken) < rounds:
            best = min(left, key=lambda row: _imbalance((*taken, row)))
            left.remove(best)
            taken.append(best)
        chosen += taken
    return tuple(chosen)


def _imbalance(rows: Sequence[Order]) -> tuple[int, int, int]:
    """How uneven places, mean places and neighbours are; less is better."""
    places = Counter((candidate, place) for row in rows for place, candidate in enumerate(row))
    sums: Counter[int] = Counter()
    for row in rows:
        for place, candidate in enumerate(row):
            sums[candidate] += 2 * place - len(row) + 1
    pairs = Counter(pair for row in rows for pair in pairwise(row))
    return _squares(places.values()), _squares(sums.values()), _squares(pairs.values())


def _squares(values: Iterable[int]) -> int:
    return sum(value * value for value in values)
