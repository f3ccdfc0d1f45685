"""Finished judgements are stored and read back the same; anything else is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubrics.judges.stored import from_json, to_json
from rubrics.records.judgements import Addressed, Judgement, Pointer, Verdict
from rubrics.records.models import Usage

texts = st.text(st.characters(), max_size=8)
tokens = st.none() | st.integers(0, 10**9)
numbers = st.floats(0, 1e9, allow_nan=False)
pointers = st.lists(st.builds(Pointer, texts, texts), max_size=3).map(tuple)
verdicts = st.builds(Verdict, st.sampled_from(("solution", "behavior")), texts, texts, st.floats(0, 1), texts, pointers)
judgements: Any = st.builds(
    Judgement, texts, texts, st.integers(0, 9), st.lists(verdicts, max_size=3).map(tuple),
    st.none() | st.builds(Addressed, texts, pointers), st.none() | texts, texts, st.none() | texts, texts,
    st.lists(texts, max_size=2).map(tuple), st.none() | texts, st.lists(texts, max_size=3).map(tuple),
    st.integers(0, 99), st.builds(Usage, tokens, tokens, tokens), st.none() | numbers, numbers, st.booleans(),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(judgements)
def test_a_judgement_is_read_back_as_it_was(judgement: Judgement) -> None:
    assert from_json(to_json(judgement)) == judgement


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[]", "{}", '{"verdicts": []}', to_json(Judgement("r", "j", 0, ())).replace('"usage"', '"used"')],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        from_json(text)


@settings(max_examples=200, deadline=None)
@given(judgements, st.data())
def test_a_judgement_that_was_damaged_is_refused_or_says_the_damage(judgement: Judgement, data: st.DataObject) -> None:
    text = to_json(judgement)
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(ValueError):
        from_json(text[:cut])
