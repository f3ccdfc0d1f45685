"""The language of rules: what is refused and why, what is allowed and what it is worth, and what rules can reach."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubrics.contrasts.vocabulary import BEHAVIOR_CONTRASTS, SOLUTION_CONTRASTS
from rubrics.errors import RubricError
from rubrics.facts.vocabulary import FACTS, PATCH_NAMES, TRANSCRIPT_NAMES
from rubrics.judges.builtin import judge
from rubrics.records.rubrics import Criterion, Kind, Rubric
from rubrics.rules.digest import rubric_digest
from rubrics.rules.evaluate import RuleEvaluator, measured_table
from rubrics.rules.language import FUNCTIONS, MAX_LENGTH
from rubrics.rules.score import rubric_score

ALLOWED = ", ".join(sorted(FUNCTIONS))


def refusal(rule: str, kind: Kind = "solution") -> str:
    with RuleEvaluator() as evaluator, pytest.raises(RubricError) as caught:
        evaluator.check(rule, kind, "f.yaml:7")
    return str(caught.value)


def values(rule: str, *rows: dict[str, Any], kind: Kind = "solution") -> list[float | None]:
    with RuleEvaluator() as evaluator:
        evaluator.check(rule, kind, "f.yaml:7")
        return [row[0] for row in evaluator.values([rule], measured_table(rows or ({},)))]


@pytest.mark.parametrize(
    ("rule", "node"),
    [
        ("(SELECT 1)", "subquery SUBQUERY"),
        ("SELECT 1", "subquery SUBQUERY"),
        ("FROM facts", "subquery SUBQUERY"),
        ("TABLE facts", "subquery SUBQUERY"),
        ("VALUES (1)", "subquery SUBQUERY"),
        ("exists(SELECT 1)", "subquery SUBQUERY"),
        ("lines_added IN (SELECT lines_added)", "subquery SUBQUERY"),
        ("lines_added = ANY([1])", "subquery SUBQUERY"),
        ("row_number() OVER ()", "window WINDOW_ROW_NUMBER"),
        ("max(lines_added) OVER ()", "window WINDOW_AGGREGATE"),
        ("lines_added::int", "cast OPERATOR_CAST"),
        ("CAST(lines_added AS int)", "cast OPERATOR_CAST"),
        ("TRY_CAST(lines_added AS int)", "cast OPERATOR_CAST"),
        ("COLUMNS(*)", "star STAR"),
        ("COLUMNS('lines.*')", "star STAR"),
        ("*", "star STAR"),
        ("measured.*", "star STAR"),
        ("'a' COLLATE nocase = 'A'", "collate COLLATE"),
        ("files_edited[1] = 'a'", "operator ARRAY_EXTRACT"),
        ("{'a': 1}.a", "operator STRUCT_EXTRACT"),
        ("TRY(1)", "operator OPERATOR_TRY"),
        ("grouping(lines_added)", "operator GROUPING_FUNCTION"),
        ("?", "parameter VALUE_PARAMETER"),
        ("$1", "parameter VALUE_PARAMETER"),
        ("#1", "positional_reference POSITIONAL_REFERENCE"),
        ("DEFAULT", "default VALUE_DEFAULT"),
    ],
)
def test_a_rule_with_a_node_that_is_not_listed_is_refused_by_the_name_of_the_node(rule: str, node: str) -> None:
    assert refusal(rule) == f"f.yaml:7: {node} may not stand in a rule; see docs/rubrics.md"


@pytest.mark.parametrize(
    ("rule", "function"),
    [
        ("sum(lines_added)", "sum"),
        ("count(*)", "count_star"),
        ("duckdb_settings()", "duckdb_settings"),
        ("current_setting('threads')", "current_setting"),
        ("getvariable('x')", "getvariable"),
        ("getenv('HOME')", "getenv"),
        ("now()", "now"),
        ("random()", "random"),
        ("nextval('a')", "nextval"),
        ("list_transform(files_edited, x -> 1)", "list_transform"),
        ("list_transform(files_edited, lambda x: 1)", "list_transform"),
        ("[x for x in files_edited]", "list_apply"),
        ("repeat('a', 1000000000)", "repeat"),
        ("read_text('/etc/passwd')", "read_text"),
        ("unnest([1, 2])", "unnest"),
        ("struct_pack(a := 1)", "struct_pack"),
        ("MAP {1: 2}", "map"),
        ("(1, 2)", "row"),
        ("1, 2", "row"),
        ("INTERVAL 1 DAY", "to_days"),
        ("a_macro(1)", "a_macro"),
        ("system.main.abs(1)", "abs"),
        ("lines_added.abs()", "abs"),
        ("len(DISTINCT files_edited)", "len"),
        ("len(files_edited) FILTER (WHERE true)", "len"),
        ("'a' LIKE 'b'", "~~"),
        ("'a' || 'b'", "||"),
        ("lines_added ~ 'a'", "regexp_matches"),
        ("2 ** 64", "**"),
        ("1 << 60", "<<"),
    ],
)
def test_a_function_that_is_not_listed_is_refused_with_the_list(rule: str, function: str) -> None:
    assert refusal(rule) == f"f.yaml:7: function {function!r} may not stand in a rule; allowed: {ALLOWED}"


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("lines_added FROM t", 'syntax error at or near "FROM"'),
        ("1; SELECT 2", 'syntax error at or near ";"'),
        ("1;", 'syntax error at or near ";"'),
        ("1) AS DOUBLE), (2", 'syntax error at or near ")"'),
        ("1) --", 'syntax error at or near ")"'),
        ("abs(lines_added", 'syntax error at or near ")"'),
        ("1 +", 'syntax error at or near ")"'),
        ("lines_added > 1 /*", 'unterminated /* comment at or near "/*\n)"'),
    ],
)
def test_what_is_no_expression_is_refused_with_the_parsers_words(rule: str, why: str) -> None:
    expected = f"f.yaml:7: {rule!r} is not an SQL expression: {why}. Write one expression, without SELECT"
    assert refusal(rule) == expected


@pytest.mark.parametrize(
    "rule",
    [
        "1), (2",
        "1) FROM (SELECT 1",
        "1) WHERE (true",
        "1) ORDER BY (1",
        "1) LIMIT (1",
        "1) AS x GROUP BY (1",
        "1) HAVING (true",
        "1) QUALIFY (true",
        "1) UNION SELECT (1",
        "1) USING SAMPLE (1",
    ],
)
def test_a_rule_cannot_close_its_parenthesis_and_go_on(rule: str) -> None:
    message = refusal(rule)
    assert message.startswith(f"f.yaml:7: {rule!r} is ")
    assert "write one boolean or one number in [0, 1]" in message or "Write one expression" in message


@pytest.mark.parametrize(
    "name",
    [
        "nope", "rollout_id", "task_id", "row_number", "rowid", "tests_failed", "outcome", "current_date",
        "current_user", "LINES_ADDED", "measured.lines_added", '"lines_added"."x"', '"lines_added "',
        '"lines_added"" OR true"', "lines_added\x00",
    ],
)  # fmt: skip
def test_a_name_outside_the_vocabulary_is_refused(name: str) -> None:
    message = refusal(f"{name} = 1")
    assert "is not in the vocabulary of solution rules; `rubrics facts --describe` lists it" in message


@pytest.mark.parametrize("name", sorted(TRANSCRIPT_NAMES | {fact.name for fact in BEHAVIOR_CONTRASTS}))
def test_no_behavior_measurement_may_stand_in_a_solution_rule(name: str) -> None:
    assert refusal(f"{name} is null") == (
        f"f.yaml:7: {name!r} is not in the vocabulary of solution rules; `rubrics facts --describe` lists it"
    )
    assert values(f"{name} is null", {}, kind="behavior") == [1.0]


@pytest.mark.parametrize("name", sorted(PATCH_NAMES | {fact.name for fact in SOLUTION_CONTRASTS}))
def test_no_solution_measurement_may_stand_in_a_behavior_rule(name: str) -> None:
    assert "is not in the vocabulary of behavior rules" in refusal(f"{name} is null", "behavior")
    assert values(f"{name} is null", {}) == [1.0]


def test_no_measurement_that_comes_from_an_outcome_is_in_the_vocabulary() -> None:
    forbidden = re.compile(r"outcome|resolved|tests_failed|tests_passed|fail_to_pass|pass_to_pass|reference")
    names = {fact.name for fact in (*FACTS, *SOLUTION_CONTRASTS, *BEHAVIOR_CONTRASTS)}
    assert not [name for name in names if forbidden.search(name)]


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("'text'", "VARCHAR"),
        ("files_edited", "VARCHAR[]"),
        ("list_value(1, 2)", "INTEGER[]"),
        ("greatest([0.5], [1.5])", "DECIMAL(2,1)[]"),
        ("null", '"NULL"'),
        ("9" * 60, "BIGNUM"),
    ],
)
def test_what_is_neither_boolean_nor_number_is_refused(rule: str, found: str) -> None:
    assert refusal(rule) == f"f.yaml:7: {rule!r} yields {found}; wanted a boolean or a number in [0, 1]"


def test_a_rule_whose_types_do_not_fit_is_refused_in_one_line() -> None:
    message = refusal("greatest()")
    assert message.startswith("f.yaml:7: 'greatest()' cannot be evaluated: Binder Error")
    assert "\n" not in message


@pytest.mark.parametrize(
    "rule",
    [
        "not " * 500 + "true",
        "abs(" * 400 + "1" + ")" * 400,
        "[" * 990 + "]" * 990,
        "1 in (" * 600 + "1" + ")" * 600,
        "- " * 3_500 + "1",
        "case when true then " * 90 + "1" + " end" * 90,
    ],
)
def test_a_deeply_nested_rule_is_refused(rule: str) -> None:
    assert "deep" in refusal(rule) or "depth" in refusal(rule)


def test_a_long_rule_is_refused_before_it_is_parsed() -> None:
    message = f"characters; at most {MAX_LENGTH}. Split it into criteria"
    assert refusal("x" * 10_000_000) == f"f.yaml:7: a rule of 10000000 {message}"
    assert refusal("1" + "+1" * MAX_LENGTH) == f"f.yaml:7: a rule of {2 * MAX_LENGTH + 1} {message}"


def test_comments_hide_nothing() -> None:
    assert values("lines_added > 1 -- and false", {"lines_added": 3}) == [1.0]
    assert values("lines_added /* ) */ > 1", {"lines_added": 3}) == [1.0]
    assert "subquery" in refusal("/* harmless */ (SELECT 1)")


@pytest.mark.parametrize(
    ("rule", "row", "value"),
    [
        ("lines_added <= 40", {"lines_added": 40}, 1.0),
        ("lines_added <= 40", {"lines_added": 41}, 0.0),
        ("lines_added <= 40", {}, None),
        ("coalesce(lines_added, 0) <= 40", {}, 1.0),
        ("lines_added is null", {}, 1.0),
        ("lines_added between 1 and 3", {"lines_added": 2}, 1.0),
        ("lines_added in (1, 2)", {"lines_added": 2}, 1.0),
        ("lines_added not in (1, 2)", {"lines_added": 2}, 0.0),
        ("1.0 / (1 + lines_added)", {"lines_added": 3}, 0.25),
        ("least(1.0, lines_added / 4)", {"lines_added": 3}, 0.75),
        ("case when lines_added > 1 then 0.5 else 0 end", {"lines_added": 3}, 0.5),
        ("list_contains(files_edited, 'it''s')", {"files_edited": ["it's"]}, 1.0),
        ("len(files_edited) = 0", {"files_edited": []}, 1.0),
        ("len(files_edited) = 0", {}, None),
        ("list_has_any(files_edited, ['a', 'b'])", {"files_edited": ["b"]}, 1.0),
        ("len(list_intersect(files_edited, ['a'])) / 2", {"files_edited": ["a", "b"]}, 0.5),
        ("lower('ÄB') = 'äb'", {}, 1.0),
        ('"lines_added" % 2', {"lines_added": 3}, 1.0),
        ("true and null", {}, None),
        ("lines_added = '3'", {"lines_added": 3}, 1.0),
    ],
)
def test_allowed_rules_are_worth_what_they_say(rule: str, row: dict[str, Any], value: float | None) -> None:
    assert values(rule, row) == [value]


@pytest.mark.parametrize(
    "rule",
    [
        "1 / (lines_added - 3)",
        "1.0 / (lines_added - 3)",
        "(lines_added - 3) / (lines_added - 3)",
        "1 % (lines_added - 3)",
        "ln(lines_added - 3)",
        "sqrt(lines_added - 4)",
        "(lines_added * 9223372036854775807) / 9223372036854775807",
        "(lines_added + 9223372036854775807) / 2",
        "abs(-9223372036854775805 - lines_added) > 0",
    ],
)
def test_a_computation_without_a_number_is_null_for_that_rollout_alone(rule: str) -> None:
    failing, fine = {"lines_added": 3}, {"lines_added": 0}
    got = values(rule, failing, fine, failing)
    assert got[0] is got[2] is None
    if rule.startswith(("1 /", "1.0", "(lines_added - 3)", "1 %", "(lines_added *", "lines_added + ", "abs")):
        assert got[1] is not None


def test_a_rule_reaches_nothing_but_its_columns() -> None:
    with RuleEvaluator() as evaluator:
        connection = evaluator._connection
        for statement in ("SET threads = 2", "SET lock_configuration = false", "COPY (SELECT 1) TO '/tmp/x.csv'"):
            with pytest.raises(Exception, match=r"locked|disabled|configuration"):
                connection.execute(statement)
        evaluator.values(["1"], measured_table([{}]))
        assert connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(0,)]
        with pytest.raises(Exception, match="measured"):
            connection.execute("FROM measured")


def test_all_rules_of_a_task_are_one_query() -> None:
    with RuleEvaluator() as evaluator:
        asked: list[str] = []
        real = evaluator._connection

        class Counting:
            def __getattr__(self, name: str) -> Any:
                return getattr(real, name)

            def execute(self, query: str, *rest: Any) -> Any:
                asked.append(query)
                return real.execute(query, *rest)

        evaluator._opened = Counting()  # type: ignore[assignment]
        rules = [f"lines_added > {n}" for n in range(150)]
        got = evaluator.values(rules, measured_table([{"lines_added": n} for n in range(20)]))
    assert len(asked) == 1
    assert got == [tuple(float(row > n) for n in range(150)) for row in range(20)]


def test_rules_of_several_tasks_are_one_query_and_each_is_worth_what_it_is_worth_alone() -> None:
    """Planning the rules of every task anew took three quarters of the time of scoring."""
    tasks: list[tuple[list[str], Any]] = [
        (["lines_added > 1", "1 / lines_added"], measured_table([{"lines_added": n} for n in range(3)])),
        ([], measured_table([{}, {}])),
        (["1 / lines_added", "0.5"], measured_table([{"lines_added": 0}, {"lines_added": 4}])),
        (["0.5"], measured_table([])),
        (["list_contains(files_edited, 'a.py')"], measured_table([{"files_edited": ["a.py"]}])),
    ]
    with RuleEvaluator() as evaluator:
        together = evaluator.values_of(tasks)
        alone = [evaluator.values_of([task])[0] for task in tasks]
    assert together == alone
    assert together[2] == [(None, 0.25), (0.5, 0.5)]
    assert [len(columns) for columns in together] == [2, 0, 2, 1, 1]


def test_tables_of_several_tasks_may_write_one_column_in_different_types() -> None:
    """A task without a value in a column may come as a column of nulls."""
    rows = measured_table([{"lines_added": 3}])
    nulls = rows.set_column(rows.column_names.index("lines_added"), "lines_added", pa.nulls(1))
    with RuleEvaluator() as evaluator:
        assert evaluator.values_of([(["lines_added / 6"], nulls), (["lines_added / 6"], rows)]) == [[(None,)], [(0.5,)]]


def test_no_rules_and_no_rollouts_are_no_query() -> None:
    with RuleEvaluator() as evaluator:
        assert evaluator.values_of([]) == []
        assert evaluator.values([], measured_table([{}, {}])) == [(), ()]
        assert evaluator.values(["1"], measured_table([])) == []


def test_shared_memory_of_checked_rules_keeps_the_kinds_apart() -> None:
    checked: dict[Any, Any] = {}
    with RuleEvaluator(checked) as one, RuleEvaluator(checked) as other:
        one.check("lines_added > 1", "solution", "a:1")
        with pytest.raises(RubricError, match="b:2"):
            other.check("lines_added > 1", "behavior", "b:2")


NAMES = st.sampled_from(["lines_added", "lines_removed", "files_changed"])
NUMBERS = st.recursive(
    st.one_of(NAMES, st.integers(-5, 5).map(str), st.sampled_from(["0.5", "null"])),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/%"), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.lists(inner, min_size=1, max_size=3).map(lambda p: f"greatest({', '.join(p)})"),
        st.tuples(inner, inner).map(lambda p: f"coalesce({p[0]}, {p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"case when {p[0]} > 1 then {p[1]} end"),
    ),
    max_leaves=8,
)


@given(st.lists(NUMBERS, min_size=1, max_size=4), st.integers(0, 10), st.integers(0, 10))
@settings(max_examples=60, deadline=None)
def test_rules_together_are_worth_what_they_are_worth_alone(rules: list[str], one: int, two: int) -> None:
    rows = [{"lines_added": one, "lines_removed": two}, {"lines_added": two, "lines_removed": one}]
    with RuleEvaluator() as evaluator:
        usable = []
        for rule in rules:
            with suppress(RubricError):
                evaluator.check(rule, "solution", "f:1")
                usable.append(rule)
        together = evaluator.values(usable, measured_table(rows))
        alone = [evaluator.values([rule], measured_table(rows)) for rule in usable]
    assert together == [tuple(column[row][0] for column in alone) for row in range(2)]
    assert all(value is None or value == value for row in together for value in row)


@given(st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_a_text_that_is_no_rule_is_refused_at_its_place(text: str) -> None:
    message = ""
    with RuleEvaluator() as evaluator:
        try:
            evaluator.check(text, "solution", "f:1")
        except RubricError as error:
            message = str(error)
    assert message.startswith("f:1: ") or values(text, {}) is not None


def rubric(*criteria: Criterion, kind: Kind = "solution") -> Rubric:
    return Rubric("t", kind, criteria, "builtin", (), "s", "note")


def verdicts(item: Rubric, *rows: dict[str, Any]) -> list[Any]:
    with RuleEvaluator() as evaluator:
        return list(judge(evaluator, {rubric_digest(item): item}, measured_table(rows)))


def test_the_judge_says_why_a_value_is_null() -> None:
    item = rubric(
        Criterion("small", "Small.", 1, "rule", rule="1.0 / (1 + lines_added)"),
        Criterion("double", "Leaves [0, 1].", 1, "rule", rule="lines_added * 2"),
        Criterion("asked", "A question.", 1, "judge", guidance="look"),
        Criterion("below", "Leaves it below.", 1, "rule", rule="0 - lines_added"),
    )
    known, empty, none = ({"patch_normal_digest": d, "lines_added": n} for d, n in (("d", 1), ("e", None), (None, 1)))
    small, double, asked, below = verdicts(item, known, empty, none)
    assert (small.values, small.failures) == ((0.5, None, None), (None, "null_rule", "no_patch"))
    assert (double.values, double.failures) == ((None, None, None), ("out_of_range", "null_rule", "no_patch"))
    assert (asked.values, asked.failures) == ((None,) * 3, ("needs_judge",) * 3)
    assert below.failures[0] == "out_of_range"
    assert small.evidence == '["fact:lines_added"]'
    assert small.reason == "rule: 1.0 / (1 + lines_added)"


def test_a_behavior_rubric_wants_a_transcript() -> None:
    item = rubric(Criterion("calm", "Calm.", 1, "rule", rule="commands_repeated = 0"), kind="behavior")
    (found,) = verdicts(item, {"commands_repeated": 0}, {"commands_repeated": 0, "transcript_normal_digest": "d"})
    assert (found.values, found.failures) == ((None, 1.0), ("no_transcript", None))


def test_a_score_is_the_weighted_mean() -> None:
    assert rubric_score([1, 0.5], [1, 3], [False, False]) == pytest.approx(0.625)


def test_a_score_with_an_unknown_value_is_unknown_also_behind_a_failed_gate() -> None:
    assert rubric_score([1, None], [1, 3], [False, False]) is None
    assert rubric_score([0, None], [1, 3], [True, False]) is None


def test_a_gate_that_is_not_fully_met_makes_the_score_zero() -> None:
    assert rubric_score([0.99, 1], [1, 3], [True, False]) == 0.0
    assert rubric_score([1, 0], [1, 3], [True, False]) == 0.25


def test_an_empty_rubric_has_no_score() -> None:
    with pytest.raises(ValueError, match="no factor"):
        rubric_score([], [], [])
