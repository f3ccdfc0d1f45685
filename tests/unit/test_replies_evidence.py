"""Evidence is looked up: a quote stands where the pointer says, in the record's form or as a prompt shows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import reply_helpers as world
from hypothesis import given, settings
from hypothesis import strategies as st

from rubrics.facts.diffs import parse_patch
from rubrics.records.judgements import Pointer, Ran
from rubrics.records.rollouts import ToolCall, Turn
from rubrics.replies.evidence import Sources, labelled
from rubrics.visible import defused


def stands(place: str, quote: str, sources: Sources = world.SOURCES) -> bool:
    return sources.wrong(Pointer(place, quote)) is None


@pytest.mark.parametrize(("place", "quote"), world.SOUND_POINTERS)
def test_a_quote_that_stands_there_resolves(place: str, quote: str) -> None:
    assert world.SOURCES.wrong(Pointer(place, quote)) is None


@pytest.mark.parametrize(
    ("place", "quote", "why"),
    [
        ("patch:src/app.py:4", "def tidy(text):", "does not start on this line"),
        ("patch:src/app.py:2", "def tidy(text):\n    return text.strip()", "does not start on this line"),
        ("patch:src/app.py:3", "def tidy(text): return text.strip()", "does not start on this line"),
        ("patch:src/app.py:3", "return\ntext.strip()", "does not start on this line"),
        ("patch:src/app.py:40", "return None", "no line of this number"),
        ("patch:src/app.py:9", "def tidy(text):", "no line of this number"),
        ("patch:src/app.pyc:3", "def tidy(text):", "no file of this path"),
        ("patch:src/app.py:03", "def tidy(text):", "no such place"),
        ("patch:src/app.py:3-4", "def tidy(text):", "no such place"),
        ("patch:src/app.py", "def tidy(text):", "no such place"),
        ("patch:src/app.py:\u0663", "def tidy(text):", "no such place"),
        ("transcript:4", "Tests pass", "there are 4"),
        ("transcript:-1", "Tests pass", "no such place"),
        ("transcript:2", "Tests pass", "does not stand there"),
        ("transcript:3", "tests pass", "does not stand there"),
        ("run:2", "10 passed", "there are 2"),
        ("run:0", "p", "fewer than 3"),
        ("run:0", " \\\\\\ ", "fewer than 3"),
        ("file:src/app.py:3", "def tidy(text):", "no such place"),
    ],
)
def test_a_pointer_that_leads_nowhere_says_why(place: str, quote: str, why: str) -> None:
    assert why in (world.SOURCES.wrong(Pointer(place, quote)) or "")


def test_without_a_patch_or_a_transcript_nothing_of_it_resolves() -> None:
    nothing = Sources(None, None)
    assert nothing.wrong(Pointer("patch:a:1", "abc")) == "there is no patch"
    assert not stands("transcript:0", "abc", nothing)


def test_a_removed_line_that_looks_like_a_header_is_a_line() -> None:
    patch = "--- a/q.sql\n+++ b/q.sql\n@@ -1,3 +1,3 @@\n select 1;\n--- a/fake.py\n+++ b/fake.py\n select 2;\n"
    sources = Sources(patch, None)
    assert stands("patch:q.sql:2", "-- a/fake.py", sources)
    assert stands("patch:q.sql:3", "select 2;", sources)
    assert not stands("patch:fake.py:1", "select 2;", sources)


def test_a_quote_may_follow_the_new_file_past_removed_lines_and_the_old_one_past_added_ones() -> None:
    patch = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n alpha\n-beta one\n+beta two\n gamma\n"
    sources = Sources(patch, None)
    for quote in (
        "alpha\nbeta two\ngamma",
        "alpha\nbeta one\ngamma",
        " alpha\n-beta one\n+beta two",
        "alpha\nbeta one\nbeta two",
    ):
        assert stands("patch:f:1", quote, sources), quote
    assert not stands("patch:f:1", "alpha\ngamma", sources)


def test_a_quote_does_not_run_from_one_hunk_into_the_next() -> None:
    patch = "--- a/f\n+++ b/f\n@@ -1,1 +1,2 @@\n alpha\n+beta\n@@ -9,1 +10,2 @@\n+gamma\n delta\n"
    assert not stands("patch:f:2", "beta\ngamma", Sources(patch, None))
    assert stands("patch:f:10", "gamma\ndelta", Sources(patch, None))


def test_commands_that_are_run_later_can_be_cited_once_they_were_run() -> None:
    runs: list[Ran] = []
    sources = Sources(None, None, runs)
    assert not stands("run:0", "two files", sources)
    runs.append(Ran("ls", "two files"))
    assert stands("run:0", "two files", sources)


def test_side_by_side_a_label_leads_to_its_own_attempt() -> None:
    resolve = labelled(
        {"A": Sources(world.PATCH, None).wrong, "B": Sources(None, world.TURNS).wrong},
        Sources(None, None, world.RUNS).wrong,
    )
    assert resolve(Pointer("A:patch:src/app.py:3", "def tidy")) is None
    assert resolve(Pointer("B:transcript:3", "10 passed")) is None
    assert resolve(Pointer("run:0", "10 passed")) is None
    for place in (
        "B:patch:src/app.py:3",
        "C:patch:src/app.py:3",
        "patch:src/app.py:3",
        "A:run:0",
        ":patch:src/app.py:3",
    ):
        assert resolve(Pointer(place, "def tidy")) is not None, place


TEXT = st.text(st.sampled_from("ab <>[]|\\:\n\t\r\u202e\u200b\x1b\u00a0systemHuman0"), min_size=1, max_size=60)


@settings(max_examples=200, deadline=None)
@given(TEXT, TEXT, TEXT)
def test_whatever_is_quoted_from_the_record_or_from_how_it_is_shown_resolves(
    before: str, quote: str, after: str
) -> None:
    text = before + quote + after
    sources = Sources(None, (Turn("assistant", "", observation=text),))
    shown_quote = defused(text)[len(defused(before)) :] if defused(text).startswith(defused(before)) else defused(text)
    for said in (quote, shown_quote):
        wrong = sources.wrong(Pointer("transcript:0", said))
        assert wrong is None or "fewer than" in wrong, said


@settings(max_examples=100, deadline=None)
@given(TEXT, TEXT)
def test_what_does_not_stand_there_never_resolves(text: str, quote: str) -> None:
    sources = Sources(None, (Turn("user", text, tool_calls=(ToolCall("bash", None, text),)),))
    assert not stands("transcript:0", f"{quote}zzz", sources)


def test_every_line_of_real_patches_resolves_under_the_number_that_facts_give_it(real: Path) -> None:
    checked = 0
    for patch in real_patches(real):
        sources = Sources(patch, None)
        for file in parse_patch(patch).files:
            for line in (line for hunk in file.hunks for line in hunk.lines if len(defused(line.text).split()) > 2):
                checked += 1
                assert stands(f"patch:{file.path}:{line.number}", line.text, sources), (file.path, line)
                assert stands(f"patch:{file.path}:{line.number}", defused(line.text), sources), (file.path, line)
    assert checked > 500


def real_patches(real: Path) -> set[str]:
    found = set()
    for file in [*real.rglob("*.jsonl"), *real.rglob("preds.json")]:
        text = file.read_text("utf-8")
        for item in map(json.loads, text.splitlines()) if file.suffix == ".jsonl" else json.loads(text).values():
            found |= {value for name in ("model_patch", "patch") if isinstance(value := item.get(name), str)}
    return found
