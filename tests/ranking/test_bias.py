"""Position bias is found at its true size, whoever happened to stand there."""

from __future__ import annotations

import pytest

from rubrics.ranking.bias import Shown, position_bias, weight
from rubrics.ranking.williams import orders

QUALITY = (60, 44, 80, 52, 70, 36, 64, 48)


def shown(n: int, rounds: int, extra: dict[int, int], seed: int = 0) -> list[Shown]:
    return [
        Shown(candidate, place, QUALITY[candidate] + extra.get(place, 0), "g")
        for row in orders(n, rounds, seed)
        for place, candidate in enumerate(row)
    ]


def test_w_is_the_weighted_sum_of_the_checks() -> None:
    assert weight((1, 1, 1, 1, 1)) == 20
    assert weight((5, 4, 3, 2, 1)) == 30 + 20 + 12 + 6 + 2
    assert weight((5, 5, 5, 5, 5)) == 100


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_a_bonus_for_the_first_is_measured_at_its_size_in_a_whole_square(n: int) -> None:
    found = position_bias(shown(n, 2 * n, {0: 12}))
    assert found[0].points == pytest.approx(12)
    assert [item.entries for item in found] == [2 * n] * n
    assert all(item.points == pytest.approx(-12 / (n - 1)) for item in found[1:])


def test_a_bonus_is_measured_without_a_whole_square_too() -> None:
    assert position_bias(shown(8, 3, {0: 12}))[0].points == pytest.approx(12)


def test_a_judge_without_bias_shows_none_although_candidates_differ() -> None:
    assert all(item.points == pytest.approx(0) for item in position_bias(shown(8, 3, {})))


def test_standardized_bias_is_in_deviations_of_the_group() -> None:
    found = position_bias(shown(8, 8, {0: 12}))[0]
    assert found.standardized is not None
    assert 0.7 < found.standardized < 0.9


def test_one_round_says_nothing_of_positions_and_equal_marks_have_no_deviation() -> None:
    assert position_bias(shown(8, 1, {0: 12}))[0].points is None
    flat = [Shown(c, place, 60, "g") for row in orders(4, 4, 0) for place, c in enumerate(row)]
    assert [(item.points, item.standardized) for item in position_bias(flat)] == [(0, None)] * 4
    assert position_bias([]) == []
