"""The vocabulary is a contract: every documented fact is measured, every measured one documented."""

from __future__ import annotations

import re
from typing import Any

import duckdb
import pytest

from rubrics.facts.measure import measure
from rubrics.facts.patch_facts import measure_patch
from rubrics.facts.transcript_facts import measure_transcript
from rubrics.facts.vocabulary import FACTS, PATCH_NAMES, TRANSCRIPT_NAMES
from rubrics.records.rollouts import ToolCall, Turn

PATCH = "--- a/src/x.py\n+++ b/src/x.py\n@@ -1,2 +1,3 @@ def f():\n a = 1\n-b = 2\n+b = g(3)\n+print(b)\n"
TURNS = (
    Turn("user", "fix it"),
    Turn("assistant", "Look.", None, (ToolCall("bash", {"command": "cat src/x.py && pytest"}, "{}"),), "1 passed", 0),
    Turn("assistant", "Edit.", None, (ToolCall("bash", {"command": "sed -i s/2/3/ src/x.py"}, "{}"),), "", 0),
)
TYPES = {"int": int, "float": float, "bool": bool, "text": str, "list": list}


def test_names_are_distinct_and_plain_sql() -> None:
    names = [fact.name for fact in FACTS]
    reserved = {
        row[0]
        for row in duckdb.connect()
        .execute("select keyword_name from duckdb_keywords() where keyword_category = 'reserved'")
        .fetchall()
    }
    assert len(set(names)) == len(names) == len(PATCH_NAMES) + len(TRANSCRIPT_NAMES)
    assert all(re.fullmatch(r"[a-z][a-z_]{2,60}", name) for name in names)
    assert not reserved & set(names)


def test_every_meaning_is_one_sentence_of_its_own() -> None:
    meanings = [fact.meaning for fact in FACTS]
    assert len(set(meanings)) == len(meanings)
    assert all(meaning.endswith(".") and "  " not in meaning for meaning in meanings)


@pytest.mark.parametrize("patch", [None, "", "no diff", PATCH])
@pytest.mark.parametrize("turns", [None, (), TURNS])
def test_a_row_has_every_fact_with_its_type(patch: str | None, turns: tuple[Turn, ...] | None) -> None:
    row = measure(patch, turns, "submitted")
    assert set(row) == {fact.name for fact in FACTS}
    for fact in FACTS:
        value = row[fact.name]
        assert value is None or type(value) is TYPES[fact.type], fact.name
        if isinstance(value, list):
            assert value == sorted(set(value))


def test_what_is_not_known_is_null_and_never_zero() -> None:
    row = measure(None, None, None)
    assert set(row.values()) == {None}


def test_the_empty_patch_counts_nothing() -> None:
    row = measure_patch("")
    empty: dict[str, Any] = {"int": 0, "bool": False, "list": []}
    for fact in FACTS:
        if fact.name in PATCH_NAMES and fact.type in empty:
            assert row[fact.name] == empty[fact.type], fact.name
    assert row["largest_file_share"] is None


def test_without_recorded_exit_codes_failures_are_unknown() -> None:
    row = measure_transcript(
        (Turn("assistant", "", None, (ToolCall("bash", {"command": "false"}, ""),), ""),), None, None
    )
    assert row["commands_failed"] is None
    assert row["exit_by_limit"] is None
    assert row["input_tokens_total"] is None
