"""The language of rules: SQL expressions over a listed vocabulary, and nothing else.

Closing a connection's external access does not stop subqueries, aggregates or functions that read
settings, so a rule is judged by its parsed form: every node must be on the lists below.

Covered: columns of the vocabulary, constants, comparisons, `and`, `or`, `not`, `in (...)`, `is null`,
`between`, `case`, `coalesce`, arithmetic, the scalar functions of `FUNCTIONS`.
Not covered: subqueries, aggregates, windows, lambdas, casts, `*`, other functions, other tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import duckdb

from rubrics.contrasts.vocabulary import BEHAVIOR_CONTRASTS, SOLUTION_CONTRASTS
from rubrics.errors import RubricError
from rubrics.facts.vocabulary import FACTS, PATCH_NAMES, TRANSCRIPT_NAMES
from rubrics.records.rubrics import Kind
from rubrics.vocabulary import Fact

MAX_LENGTH = 8_000
MAX_DEPTH = 60

OPERATORS = frozenset({"+", "-", "*", "/", "%"})
FUNCTIONS = frozenset(
    {
        "abs", "ceil", "contains", "ends_with", "exp", "floor", "greatest", "least", "len", "length", "list_contains",
        "list_has_all", "list_has_any", "list_intersect", "list_value", "ln", "lower", "round", "sqrt", "starts_with",
    }
)  # fmt: skip
_CLASSES = frozenset({"COLUMN_REF", "CONSTANT", "COMPARISON", "CONJUNCTION", "OPERATOR", "FUNCTION", "CASE", "BETWEEN"})
_OPERATOR_TYPES = frozenset(
    {"OPERATOR_NOT", "OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL", "OPERATOR_COALESCE", "COMPARE_IN", "COMPARE_NOT_IN"}
)


def vocabulary(kind: Kind) -> dict[str, Fact]:
    """What a rule of this kind may name: patch facts and their contrasts, or transcript facts and theirs."""
    own = PATCH_NAMES if kind == "solution" else TRANSCRIPT_NAMES
    contrasts = SOLUTION_CONTRASTS if kind == "solution" else BEHAVIOR_CONTRASTS
    return {fact.name: fact for fact in (*(fact for fact in FACTS if fact.name in own), *contrasts)}


def columns_of(rule: str, kind: Kind, place: str, connection: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """Names that a rule uses, once it is found to hold nothing that is not allowed.

    Raises `RubricError` naming the place, what was found and what may stand there.
    """
    if len(rule) > MAX_LENGTH:
        raise RubricError(f"{place}: a rule of {len(rule)} characters; at most {MAX_LENGTH}. Split it into criteria")
    known = vocabulary(kind)
    found = set()
    for node in _nodes(_parse(rule, place, connection), place):
        _check_node(node, place)
        if node["class"] == "COLUMN_REF":
            name = ".".join(node["column_names"])
            if name not in known:
                raise RubricError(
                    f"{place}: {name!r} is not in the vocabulary of {kind} rules; `rubrics facts --describe` lists it"
                )
            found.add(name)
    return frozenset(found)


def _parse(rule: str, place: str, connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """The one expression of a rule, as DuckDB's parser sees it."""
    rows = connection.execute("SELECT json_serialize_sql($sql)", {"sql": f"SELECT (\n{rule}\n)"}).fetchall()
    try:
        parsed: dict[str, Any] = json.loads(rows[0][0]) if rows else {"error": True}
    except RecursionError:
        raise _too_deep(place) from None
    if parsed["error"]:
        why = parsed.get("error_message", "it cannot be parsed")
        raise RubricError(f"{place}: {rule!r} is not an SQL expression: {why}. Write one expression, without SELECT")
    node = parsed["statements"][0]["node"] if len(parsed["statements"]) == 1 else {}
    plain = (
        node.get("type") == "SELECT_NODE"
        and len(node.get("select_list", ())) == 1
        and (node.get("from_table") or {}).get("type") == "EMPTY"
        and not any(node.get(part) for part in ("where_clause", "having", "sample", "qualify", "group_expressions"))
        and not node.get("modifiers")
        and not node.get("cte_map", {}).get("map")
    )
    if not plain:
        raise RubricError(f"{place}: {rule!r} is more than one expression; write one boolean or one number in [0, 1]")
    expression: dict[str, Any] = node["select_list"][0]
    return expression


def _too_deep(place: str) -> RubricError:
    return RubricError(f"{place}: the rule is nested more than {MAX_DEPTH} deep; simplify it")


def _nodes(value: Any, place: str, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Every expression node below a value, wherever the parser put it."""
    if depth > MAX_DEPTH * 3:
        raise _too_deep(place)
    if isinstance(value, dict):
        if "class" in value:
            yield value
        for part in value.values():
            yield from _nodes(part, place, depth + 1)
    elif isinstance(value, list):
        for part in value:
            yield from _nodes(part, place, depth + 1)


def _check_node(node: dict[str, Any], place: str) -> None:
    kind = node["class"]
    if kind not in _CLASSES or (kind == "OPERATOR" and node["type"] not in _OPERATOR_TYPES):
        raise RubricError(
            f"{place}: {kind.lower()} {node.get('type', '')} may not stand in a rule; see docs/rubrics.md"
        )
    if kind == "FUNCTION":
        name = node["function_name"]
        extras = node.get("schema") or node.get("catalog") or node.get("filter") or node.get("distinct")
        if name not in OPERATORS | FUNCTIONS or extras:
            raise RubricError(
                f"{place}: function {name!r} may not stand in a rule; allowed: {', '.join(sorted(FUNCTIONS))}"
            )
