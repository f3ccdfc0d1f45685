"""The orders of the rounds are balanced: places and neighbours in a whole square, places as far as rounds reach."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubrics.ranking.williams import orders, square

sizes = st.integers(2, 12)
seeds = st.text(max_size=5)


def places(rows: tuple[tuple[int, ...], ...]) -> Counter[tuple[int, int]]:
    return Counter((candidate, place) for row in rows for place, candidate in enumerate(row))


def neighbours(rows: tuple[tuple[int, ...], ...]) -> Counter[tuple[int, int]]:
    return Counter(pair for row in rows for pair in pairwise(row))


@given(sizes)
def test_a_square_shows_every_candidate_equally_often_in_every_place(n: int) -> None:
    rows = square(n)
    assert len(rows) == (n if n % 2 == 0 else 2 * n)
    assert all(sorted(row) == list(range(n)) for row in rows)
    counted = places(rows)
    assert len(counted) == n * n
    assert set(counted.values()) == {len(rows) // n}


@given(sizes)
def test_a_square_shows_every_candidate_equally_often_right_after_every_other(n: int) -> None:
    rows = square(n)
    counted = neighbours(rows)
    assert len(counted) == n * (n - 1)
    assert set(counted.values()) == {len(rows) // n}


@settings(deadline=None)
@given(sizes, st.integers(1, 30), seeds)
def test_rounds_use_a_whole_square_as_often_as_it_fits_and_even_places_for_the_rest(
    n: int, rounds: int, seed: str
) -> None:
    chosen = orders(n, rounds, seed)
    assert len(chosen) == rounds
    assert all(sorted(row) == list(range(n)) for row in chosen)
    counted = places(chosen)
    everywhere = [counted[candidate, place] for candidate in range(n) for place in range(n)]
    assert max(everywhere) - min(everywhere) <= (1 if n % 2 == 0 or rounds % (2 * n) <= n else 2)
    assert orders(n, rounds, seed) == chosen


@given(st.integers(1, 6), seeds)
def test_two_rounds_of_an_even_number_show_one_order_forwards_and_backwards(half: int, seed: str) -> None:
    first, second = orders(2 * half, 2, seed)
    assert second == first[::-1]


def test_other_seeds_give_other_orders() -> None:
    assert len({orders(8, 3, "group", seed) for seed in range(20)}) == 20


def test_one_candidate_has_one_order_and_none_has_no_square() -> None:
    assert orders(1, 2, "x") == ((0,), (0,))
    with pytest.raises(ValueError, match="0 candidates"):
        square(0)
