"""From rounds of checks to tiers and quality factors (method 3)."""

from __future__ import annotations

from dataclasses import replace
from itertools import product as combinations
from typing import Any

import numpy as np
import pytest
from engine_data import DEFAULTS, NO_LENGTH, examples, group_slices, one_group, random_chunk, run, seeds
from hypothesis import given
from hypothesis import strategies as st

from rubrics.rewards.engine import EngineInputs
from rubrics.rewards.hacks import CONFIRMED
from rubrics.rewards.product import PASSED
from rubrics.rewards.ranking import UNRANKED, UNUSABLE, USED
from rubrics.rewards.routing import GAR
from rubrics.rewards.tiers import grade, tiers

TOP, GOOD, FAIR = (5, 5, 5, 5, 5), (4, 4, 4, 4, 4), (3, 3, 3, 3, 3)
chunks = st.builds(random_chunk, seeds)


def ranked(checks: dict[int, list[Any]], passing: int = 3) -> Any:
    return run(one_group(["passed"] * passing + ["failed"] * 3, checks=checks), NO_LENGTH)


@pytest.mark.parametrize(
    ("checks", "flags", "tier"),
    [
        (TOP, (), 1),
        (GOOD, (), 1),
        ((4, 4, 4, 4, 3), (), 2),
        ((3, 5, 5, 5, 5), (), 2),
        (TOP, ("severe_process_issue",), 2),
        (TOP, ("unresolved_regression",), 2),
        (TOP, ("unrequested_rewrite",), 3),
        (TOP, ("test_workaround",), 3),
        ((1, 5, 5, 5, 5), (), 3),
        ((2, 5, 5, 5, 5), (), 2),
        ((5, 5, 2, 2, 5), (), 3),
        ((5, 5, 2, 3, 5), (), 2),
        ((5, 5, 3, 2, 5), (), 2),
        ((5, 1, 5, 5, 1), (), 2),
    ],
)
def test_tiers(checks: tuple[int, ...], flags: tuple[str, ...], tier: int) -> None:
    assert ranked({0: [(checks, flags)], 1: [(TOP, ())], 2: [(TOP, ())]}).tier[0] == tier


def test_tiers_of_all_checks_are_what_the_sentence_says() -> None:
    checks = np.array(list(combinations(range(1, 6), repeat=5)))
    found = tiers(checks, np.zeros((len(checks), 4), dtype=bool))
    for (a, p, m, s, c), tier in zip(checks.tolist(), found.tolist(), strict=True):
        third = a <= 1 or (m <= 2 and s <= 2)
        assert tier == (3 if third else 1 if min(a, p, m, s, c) >= 4 else 2)


def test_each_check_is_the_lower_median_of_its_rounds() -> None:
    rounds = [((4, 5, 5, 5, 5), ()), ((5, 4, 5, 5, 5), ()), ((5, 5, 5, 5, 5), ()), ((4, 5, 4, 5, 5), ())]
    four = ranked({0: rounds, 1: [((4, 5, 5, 5, 5), ())] * 4, 2: [(TOP, ())] * 4})
    assert four.rank[:3].tolist() == [2, 2, 1]  # medians 4, 5, 5, 5, 5


def test_a_flag_needs_more_than_half_of_the_rounds() -> None:
    flagged, clean = (TOP, ("test_workaround",)), (TOP, ())
    others = {1: [clean] * 4, 2: [clean] * 4}
    assert ranked({0: [flagged, flagged, clean, clean], **others}).tier[0] == 1
    assert ranked({0: [flagged, flagged, flagged, clean], **others}).tier[0] == 3


def test_fewer_than_half_usable_rounds_make_a_ranking_unusable() -> None:
    good = (TOP, ())
    half = {row: [good, None] for row in range(3)}
    third = {row: [good, None, None] for row in range(3)}
    assert ranked(half).ranking[0] == USED
    assert ranked(third).ranking[0] == UNUSABLE


def test_a_round_with_one_broken_entry_is_not_usable() -> None:
    good = (TOP, ())
    assert ranked({0: [good, None], 1: [good, good], 2: [None, good]}).ranking[0] == UNUSABLE


def test_a_check_that_was_not_answered_breaks_its_round() -> None:
    for level in (0, 6, -1):
        assert ranked({0: [((5, 5, 5, 5, level), ())], 1: [(TOP, ())], 2: [(TOP, ())]}).ranking[0] == UNUSABLE


def test_a_round_that_is_marked_unusable_is_not_read_although_it_is_answered() -> None:
    good = (TOP, ())
    chunk = one_group(["passed"] * 2 + ["failed"], checks={0: [good, (FAIR, ())], 1: [good, good]})
    marked = replace(chunk, rankings=replace(chunk.rankings, usable=chunk.rankings.round == 0))
    assert run(chunk, NO_LENGTH).tier.tolist() == [2, 1, -1]
    assert run(marked, NO_LENGTH).tier.tolist() == [1, 1, -1]


def test_a_pass_that_no_usable_round_holds_makes_the_ranking_unusable() -> None:
    assert ranked({0: [(TOP, ())], 1: [(GOOD, ())]}).ranking[0] == UNUSABLE


def test_a_group_without_rounds_is_not_ranked() -> None:
    assert ranked({}).ranking.tolist() == [UNRANKED] * 6


def test_a_broken_entry_of_a_confirmed_hack_or_a_failure_breaks_nothing() -> None:
    checks = {0: [(TOP, ())], 1: [(FAIR, ())], 2: [None], 3: [None]}
    hacks = ["none", "none", "confirmed", "none", "none", "none"]
    found = run(one_group(["passed"] * 3 + ["failed"] * 3, checks=checks, hacks=hacks), NO_LENGTH)
    assert found.ranking[0] == USED
    assert found.tier.tolist() == [1, 2, -1, -1, -1, -1]


@examples(300)
@given(chunks)
def test_quality_is_known_for_passes_of_gar_groups_alone(chunk: EngineInputs) -> None:
    found = run(chunk)
    passes = (chunk.outcome == PASSED) & (chunk.hack != CONFIRMED)
    np.testing.assert_array_equal(~np.isnan(found.quality_factor), passes & (found.route == GAR))
    np.testing.assert_array_equal(found.tier > 0, passes & (found.ranking == USED))
    np.testing.assert_array_equal(found.rank > 0, passes & (found.ranking == USED))
    assert (found.quality_factor[passes & (found.route == GAR) & (found.ranking != USED)] == 1).all()


@examples(300)
@given(chunks)
def test_factors_fall_with_the_rank_and_each_used_group_has_a_first(chunk: EngineInputs) -> None:
    found = run(chunk)
    for rows in group_slices(chunk):
        order = np.argsort(found.rank[rows], kind="stable")
        rank = found.rank[rows][order]
        factor, tier = found.quality_factor[rows][order][rank > 0], found.tier[rows][order][rank > 0]
        rank = rank[rank > 0]
        if len(rank):
            assert rank[0] == 1
            assert (np.diff(rank) <= 1).all()
            assert (np.diff(factor) <= 0).all()
            assert (np.diff(tier) >= 0).all()
            assert ((factor > 0) & (factor <= 1)).all()


@examples(300)
@given(seeds, st.integers(1, 30))
def test_factors_are_those_of_a_plain_computation(seed: int, number: int) -> None:
    rng = np.random.default_rng(seed)
    group = np.sort(rng.integers(0, 4, size=number))
    checks, flags = rng.integers(2, 6, size=(number, 5)), rng.random((number, 4)) < 0.1
    found = grade(group, checks, flags, DEFAULTS.quality)
    w = checks @ [6, 5, 4, 3, 2]
    for i in range(number):
        same = group == group[i]
        tier = found.tier[i]
        above = len({(found.tier[j], w[j]) for j in np.flatnonzero(same) if (found.tier[j], -w[j]) < (tier, -w[i])})
        assert found.rank[i] == above + 1
        sets = sorted({w[j] for j in np.flatnonzero(same & (found.tier == tier))}, reverse=True)
        place = sets.index(w[i])
        linear = 0.85 if len(sets) == 1 else 0.85 - 0.45 * place / (len(sets) - 1)
        wanted = {1: 1.0 if place == 0 else 0.9, 2: linear, 3: 0.2}[int(tier)]
        assert found.factor[i] == pytest.approx(wanted, abs=1e-12)
