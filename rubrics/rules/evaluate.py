"""Evaluates the rule criteria of tasks over all their rollouts in one DuckDB query."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, TypeAlias

import duckdb
import pyarrow as pa

from rubrics.errors import RubricError
from rubrics.records.rubrics import Kind
from rubrics.rules.language import columns_of, vocabulary
from rubrics.store.schema import CONTRASTS_TABLE, FACTS_TABLE
from rubrics.vocabulary import Fact

Measured: TypeAlias = pa.Table
"""Facts and contrasts as an Arrow table, one row per rollout."""

Checked: TypeAlias = dict[tuple[str, Kind], frozenset[str]]
"""Rules found good, with the names that each uses."""

_WORD = re.compile(r"\w+")
NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL")


class RuleEvaluator:
    """One closed DuckDB connection that can reach nothing but the rows it is given. Not for several threads.

    `checked` remembers the rules found good; evaluators may share one.
    """

    def __init__(self, checked: Checked | None = None) -> None:
        self._checked: Checked = {} if checked is None else checked
        self._opened: duckdb.DuckDBPyConnection | None = None

    def __enter__(self) -> RuleEvaluator:
        return self

    def __exit__(self, *_: object) -> None:
        if self._opened is not None:
            self._opened.close()

    @property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        """Opened when it is first needed: that takes as long as evaluating the rules of several tasks."""
        if self._opened is None:
            self._opened = duckdb.connect()
            self._opened.execute("SET enable_external_access = false")
            self._opened.execute("SET threads = 1")
            self._opened.execute("SET ieee_floating_point_ops = false")
            self._opened.execute("SET error_on_division_by_zero = false")
            self._opened.execute("SET lock_configuration = true")
        return self._opened

    def check(self, rule: str, kind: Kind, place: str) -> frozenset[str]:
        """Names that a rule uses. Raises `RubricError` unless it is an allowed boolean or number."""
        if (rule, kind) not in self._checked:
            self._checked[rule, kind] = self._checked_now(rule, kind, place)
        return self._checked[rule, kind]

    def _checked_now(self, rule: str, kind: Kind, place: str) -> frozenset[str]:
        names = columns_of(rule, kind, place, self._connection)
        listed = ", ".join(f'NULL::{_sql_type(fact)} AS "{name}"' for name, fact in vocabulary(kind).items())
        try:
            row = self._connection.execute(f"DESCRIBE SELECT (\n{rule}\n) FROM (SELECT {listed})").fetchall()
        except duckdb.Error as error:
            raise RubricError(f"{place}: {rule!r} cannot be evaluated: {str(error).splitlines()[0]}") from None
        found = row[0][1] if row else "nothing"
        if found.partition("(")[0] not in ("BOOLEAN", *NUMBERS) or found.endswith("]"):
            raise RubricError(f"{place}: {rule!r} yields {found}; wanted a boolean or a number in [0, 1]")
        return names

    def values(self, rules: Sequence[str], measured: Measured) -> list[tuple[float | None, ...]]:
        """Value of every rule for every row, in the order of the rows. The rules must have passed `check`.

        `measured` holds facts and contrasts. Null where the rule says null or the computation has no
        number (a division by zero, an overflow); what lies outside [0, 1] is returned as it is: the caller refuses it.
        """
        (columns,) = self.values_of([(rules, measured)])
        return list(zip(*columns, strict=True)) if columns else [()] * measured.num_rows

    def values_of(self, asked: Sequence[tuple[Sequence[str], Measured]]) -> list[list[tuple[float | None, ...]]]:
        """The same of several rubrics, each over rows of its own: for each, one tuple per rule, in the order of the
        rules, with a value per row.

        It is one query over all rows, with every rule once: planning a rule takes as long as evaluating it over some
        thousands of rows.
        """
        numbers = {rule: n for n, rule in enumerate(dict.fromkeys(rule for rules, _ in asked for rule in rules))}
        words = names_in(numbers)
        stops = list(accumulate(measured.num_rows for _, measured in asked))
        tables = [
            _named_columns(measured, words, stop - measured.num_rows)
            for stop, (_, measured) in zip(stops, asked, strict=True)
        ]
        found = self._evaluated(list(numbers), tables) if numbers and any(stops) else [()] * len(numbers)
        return [
            [found[numbers[rule]][stop - measured.num_rows : stop] for rule in rules]
            for stop, (rules, measured) in zip(stops, asked, strict=True)
        ]

    def _evaluated(self, rules: Sequence[str], tables: Sequence[Measured]) -> list[tuple[float | None, ...]]:
        """Value of every rule over all rows: one tuple per rule."""
        numbered = pa.concat_tables(tables, promote_options="permissive")
        selected = ", ".join(f"TRY(TRY_CAST((\n{rule}\n) AS DOUBLE))" for rule in rules)
        self._connection.register("measured", numbered)
        try:
            query = f"SELECT row_number, {selected} FROM measured ORDER BY row_number"
            return list(zip(*self._connection.execute(query).fetchall(), strict=True))[1:]
        except duckdb.Error as error:
            raise RubricError(
                f"rules failed while evaluated: {str(error).splitlines()[0]}; see the rubric's rules"
            ) from None
        finally:
            self._connection.unregister("measured")


def names_in(rules: Iterable[str]) -> set[str]:
    """Every name of a fact or contrast that the rules hold, and other words of theirs."""
    return {word for rule in rules for word in _WORD.findall(rule)}


def measured_table(rows: Sequence[Mapping[str, Any]], rollout_id: Sequence[str] | None = None) -> Measured:
    """Facts and contrasts given as dictionaries, in the form that `RuleEvaluator.values` takes."""
    known = set(_rule_schema().names)
    table = pa.Table.from_pylist([{k: v for k, v in row.items() if k in known} for row in rows], schema=_rule_schema())
    return table if rollout_id is None else table.add_column(0, "rollout_id", pa.array(rollout_id, pa.string()))


def _named_columns(measured: Measured, words: Collection[str], first: int) -> Measured:
    """The columns that some rule may name, as planning a query over all of them costs most of its time, and the numbers
    of the rows from `first` on."""
    named = measured.select([name for name in measured.column_names if name in words])
    return named.append_column("row_number", pa.array(range(first, first + measured.num_rows), pa.int64()))


def _sql_type(fact: Fact) -> str:
    return {"int": "BIGINT", "float": "DOUBLE", "bool": "BOOLEAN", "text": "VARCHAR", "list": "VARCHAR[]"}[fact.type]


@cache
def _rule_schema() -> pa.Schema:
    facts = [field for field in FACTS_TABLE.columns if field.name not in ("rollout_id", "task_id")]
    contrasts = [
        field for field in CONTRASTS_TABLE.columns if field.name not in ("rollout_id", "task_id", "study_digest")
    ]
    return pa.schema([*facts, *contrasts])
