"""The trial of a draft: what is flat, contradicted, null or a twin on the studied attempts, and what may stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lint_cases import but, rule

from rubrics.authors.trial_draft import ENOUGH, TWIN, Tried, correlated, findings
from rubrics.records.rubrics import Criterion

PASSED = (True, True, False, False)
LABELS = ("attempt-1", "attempt-2", "attempt-3", "attempt-4")


def found(*items: tuple[Criterion, Any], in_spec: bool = True, passed: Sequence[bool] = PASSED) -> dict[str, str]:
    tested = [Tried(place, criterion, values, in_spec) for place, (criterion, values) in enumerate(items)]
    labels = [f"attempt-{n}" for n in range(1, len(passed) + 1)]
    return {item.criterion_id: item.rule for item in findings("solution", tested, passed, labels)}


def named(name: str, **fields: Any) -> Criterion:
    return but(id=name, **{"anchor": name, **fields})


def test_what_tells_the_attempts_apart_stays() -> None:
    assert found((named("a"), (1, 1, 0, 0)), (named("b"), (1, 0.5, 0.5, 0))) == {}


@pytest.mark.parametrize("values", [(1, 1, 1, 1), (0, 0, 0, 0), (0.5, 0.52, 0.5, 0.5), (1, None, 1, None)])
def test_what_all_or_none_meet_goes_unless_it_names_a_fault(values: tuple[float | None, ...]) -> None:
    assert found((named("a"), values)) == {"a": "flat"}
    guard = found((named("a", fault="a fault"), values))
    assert guard == ({"a": "contradicted"} if values[0] == 0 else {})


def test_one_known_value_says_nothing_and_no_value_is_untried() -> None:
    assert found((named("a"), (1, None, None, None)), (named("b"), None)) == {}


def test_a_rule_that_says_null_or_leaves_its_range_goes() -> None:
    assert found((rule("x", id="a"), (1, None, 0, 0))) == {"a": "null"}
    assert found((rule("x", id="a"), (1, 1.5, 0, 0))) == {"a": "range"}
    assert found((rule("x", id="a"), (1, -0.5, 0, 0))) == {"a": "range"}
    assert found((named("judged"), (1, None, 0, 0))) == {}


def test_a_passing_attempt_contradicts_what_the_spec_does_not_ask_for() -> None:
    assert found((named("a"), (1, 0, 0, 0)), in_spec=False) == {"a": "contradicted"}
    assert found((named("a"), (1, 0, 0, 0)), in_spec=True) == {}
    assert found((named("a"), (0.6, 0.6, 1, 1)), in_spec=False) == {"a": "contradicted"}
    assert found((named("a"), (None, 1, 0, 0)), in_spec=False) == {}


def test_a_guard_goes_only_where_passing_attempts_mostly_have_its_fault() -> None:
    assert found((named("a", fault="f"), (1, 0, 1, 1)), in_spec=False) == {}
    assert found((named("a", fault="f"), (0.2, 0.2, 1, 1)), in_spec=False) == {"a": "contradicted"}


def test_of_twins_on_one_passage_the_weightier_stays() -> None:
    light, heavy = named("light", anchor="x", weight=1), named("heavy", anchor="x", weight=2)
    assert found((light, (1, 1, 0, 0)), (heavy, (1, 0.9, 0, 0))) == {"light": "twin"}
    assert found((light, (1, 1, 0, 0)), (heavy, (0, 1, 0, 1))) == {}
    guard = named("guard", anchor="x", weight=9, fault="f")
    assert found((guard, (1, 1, 0, 0)), (light, (1, 1, 0, 0))) == {"guard": "twin"}


def test_on_different_passages_it_takes_more_attempts_to_tell_twins() -> None:
    assert found((named("a"), (1, 1, 0, 0)), (named("b"), (1, 1, 0, 0))) == {}
    many = [n % 2 for n in range(ENOUGH)]
    passed = [True] * ENOUGH
    assert found((named("a"), many), (named("b"), many), passed=passed) == {"b": "twin"}
    assert found((named("a"), many[1:]), (named("b"), many[1:]), passed=passed[1:]) == {}


def test_what_is_dropped_for_itself_is_nobodys_twin() -> None:
    same = (1, 0, 0, 0)
    tested = [Tried(0, named("a", anchor="x"), same, False), Tried(1, named("b", anchor="x"), same, True)]
    assert [item.criterion_id for item in findings("solution", tested, PASSED, LABELS)] == ["a"]


def test_without_contrast_only_guards_and_what_the_spec_asks_for_can_stay() -> None:
    for passed in ((True,) * 4, (False,) * 4):
        assert found((named("flat"), (1, 1, 1, 1)), passed=passed) == {"flat": "flat"}
        assert found((named("guard", fault="f"), (1, 1, 1, 1)), passed=passed) == {}
        assert found((named("asked"), (1, 0, 1, 0)), passed=passed) == {}
    assert found((named("unasked"), (1, 0, 1, 0)), in_spec=False, passed=(True,) * 4) == {"unasked": "contradicted"}


def test_correlation_wants_two_values_and_variance() -> None:
    assert correlated([(1, 1)]) is correlated([]) is correlated([(1, 0), (1, 1)]) is None
    assert correlated([(0, 0), (1, 1)]) == pytest.approx(1)
    assert correlated([(0, 1), (1, 0)]) == pytest.approx(-1)


VALUES = st.lists(st.none() | st.floats(0, 1), min_size=4, max_size=4).map(tuple)


@given(st.lists(VALUES, max_size=5), st.booleans())
def test_whatever_the_values_are_what_stays_is_no_twin_of_what_stays(columns: list[Any], in_spec: bool) -> None:
    tested = [Tried(n, named(f"c{n}", anchor="x"), values, in_spec) for n, values in enumerate(columns)]
    dropped = {item.place for item in findings("solution", tested, PASSED, LABELS)}
    kept = [values for place, values in enumerate(columns) if place not in dropped]
    for place, one in enumerate(kept):
        for other in kept[:place]:
            r = correlated([(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None])
            assert r is None or r < TWIN
