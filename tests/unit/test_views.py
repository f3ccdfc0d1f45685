"""The SQL views say what the pure functions say: the outcome that counts, and the score of a rubric."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rubrics.outcomes import choose
from rubrics.records.outcomes import Outcome, OutcomeName
from rubrics.rules.score import rubric_score
from rubrics.store.store import Store

SOURCES = [
    "exit", "run:1", "run:2", "run:10", "run:007", "run:x", "run:2#2", "run", "file:a", "file:a#2", "file:b", 
    "harness:x", "harness:x/y", "harness:run:3", "recorded:x", "odd", "exit:late", "Run:1", "file",
]  # fmt: skip
OUTCOMES: list[OutcomeName] = ["passed", "failed", "infra", "truncated", "unknown"]
SETS = st.dictionaries(st.sampled_from(SOURCES), st.sampled_from(OUTCOMES), max_size=5)


def chosen(store: Store, sets: list[dict[str, OutcomeName]]) -> list[tuple[str, str | None]]:
    with store.writing() as run:
        run.append("rollouts", [{"rollout_id": f"r{n:04}", "task_id": "t"} for n in range(len(sets))])
        run.append("outcomes", [])
        for number, said in enumerate(sets):
            run.append(
                "outcomes", [{"rollout_id": f"r{number:04}", "source": s, "outcome": o} for s, o in said.items()]
            )
    rows = store.query("SELECT rollout_id, outcome, source FROM chosen_outcomes ORDER BY rollout_id").to_pylist()
    assert len(rows) == len(sets)
    return [(row["outcome"], row["source"]) for row in rows]


def by_choose(said: dict[str, OutcomeName]) -> tuple[str, str | None]:
    choice = choose([Outcome("r", source, outcome) for source, outcome in said.items()])
    return choice.outcome, choice.source


@given(st.lists(SETS, min_size=20, max_size=60))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_view_chooses_the_outcome_that_choose_chooses(tmp_path: Path, sets: list[dict[str, OutcomeName]]) -> None:
    assert chosen(Store.create(tmp_path / "store"), sets) == [by_choose(said) for said in sets]


@pytest.mark.parametrize(
    ("said", "outcome", "source"),
    [
        ({}, "unknown", None),
        ({"file:a": "passed", "file:b": "failed"}, "failed", "file:b"),
        ({"file:a": "passed", "file:a#2": "failed"}, "failed", "file:a#2"),
        ({"harness:x": "failed", "harness:a": "passed"}, "failed", "harness:x"),
        ({"run:2": "passed", "run:10": "failed", "file:a": "passed"}, "failed", "run:10"),
        ({"run:2": "failed", "run:10": "infra"}, "failed", "run:2"),
        ({"run:2": "truncated", "harness:x": "passed"}, "passed", "harness:x"),
        ({"run:1": "infra", "harness:x": "unknown"}, "infra", "run:1"),
        ({"run:1": "infra", "exit": "truncated"}, "truncated", "exit"),
        ({"exit": "truncated", "run:1": "failed"}, "truncated", "run:1"),
        ({"exit": "truncated", "run:1": "passed"}, "passed", "run:1"),
        ({"exit": "infra", "run:1": "passed"}, "infra", "exit"),
        ({"exit": "failed"}, "unknown", None),
        ({"exit": "passed"}, "unknown", None),
        ({"exit": "passed", "file:a": "failed"}, "failed", "file:a"),
    ],
)
def test_outcomes_that_sources_dispute(
    tmp_path: Path, said: dict[str, OutcomeName], outcome: str, source: str | None
) -> None:
    assert chosen(Store.create(tmp_path / "store"), [said]) == [(outcome, source)]
    assert by_choose(said) == (outcome, source)


VALUES = st.one_of(st.none(), st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
CRITERION = st.tuples(st.floats(0.001, 1000), st.booleans(), st.lists(VALUES, min_size=1, max_size=4))
GRADED = st.lists(CRITERION, min_size=1, max_size=5)


def grades(number: int, graded: list[Any]) -> list[dict[str, Any]]:
    return [
        {
            "rollout_id": f"r{number:04}", "task_id": "t", "kind": "solution", "rubric_digest": "d", "judge": "j",
            "criterion_id": f"c{index}", "weight": weight, "gate": gate, "repeat": repeat, "value": value,
            "failure_class": "null_rule" if value is None else None,
        }
        for index, (weight, gate, values) in enumerate(graded)
        for repeat, value in enumerate(values)
    ]  # fmt: skip


@given(st.lists(GRADED, min_size=5, max_size=25))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_view_scores_as_rubric_score_with_the_median_of_the_repeats_none_of_which_may_be_unknown(
    tmp_path: Path, sets: list[list[Any]]
) -> None:
    store = Store.create(tmp_path / "store")
    with store.writing() as run:
        for number, graded in enumerate(sets):
            run.append("grades", grades(number, graded))
    rows = store.query("SELECT * FROM scores ORDER BY rollout_id").to_pylist()
    assert [row["criteria"] for row in rows] == [len(graded) for graded in sets]
    for row, graded in zip(rows, sets, strict=True):
        weights, gates, repeats = zip(*graded, strict=True)
        medians = [None if None in values else median(values) for values in repeats]
        expected = rubric_score(medians, weights, gates)
        assert row["score"] == (expected if expected is None else pytest.approx(expected, abs=1e-12))
        assert (row["failure_class"] is None) == (expected is not None)


def test_scores_of_two_judges_rubrics_and_kinds_are_kept_apart(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    base = {"rollout_id": "r", "task_id": "t", "criterion_id": "c", "weight": 1.0, "gate": False, "repeat": 0}
    cases = [
        ("solution", "d", "j", 0.1),
        ("solution", "d", "k", 0.2),
        ("solution", "e", "j", 0.3),
        ("behavior", "f", "j", 1),
    ]
    with store.writing() as run:
        for kind, digest, judge, value in cases:
            run.append("grades", [{**base, "kind": kind, "rubric_digest": digest, "judge": judge, "value": value}])
    rows = store.query("FROM scores").to_pylist()
    assert sorted((row["kind"], row["rubric_digest"], row["judge"], row["score"]) for row in rows) == sorted(cases)


def test_a_query_that_names_few_views_has_those_they_rest_on_and_the_catalogue_lists_all(sample_store: Store) -> None:
    listed = sample_store.query("SELECT view_name FROM duckdb_views() WHERE NOT internal").column(0).to_pylist()
    assert {"rewards", "scores", "reward_inputs", "chosen_outcomes"} <= set(listed)
    assert sample_store.query("SELECT count(*) AS n FROM Reward_Inputs").to_pylist() == [{"n": 32}]
    assert sample_store.query("FROM check_rewards").num_rows == 0
