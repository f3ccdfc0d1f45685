"""Digests tell sequences apart; JSON of equal values is equal text; parsing never does worse than raise ValueError."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubrics import jsonio
from rubrics.digests import digest128

PARTS = st.lists(st.none() | st.integers() | st.text(max_size=8) | st.sampled_from(["", "n;", "s1:", "i1:1", "\ud800"]))


@given(PARTS, PARTS)
def test_two_sequences_have_one_digest_only_when_they_are_equal(one: list[Any], other: list[Any]) -> None:
    assert (digest128(one) == digest128(other)) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["ab"], ["a", "b"]), (["a", ""], ["", "a"]), ([None], [""]), ([], [""]), ([], [None]), ([1], ["1"]),
        (["s1:a"], ["a"]), (["a", "b"], ["b", "a"]), (["é"], ["e\u0301"]), (["\ud800"], ["?"]), ([12], [1, 2]),
    ],
)  # fmt: skip
def test_parts_do_not_run_into_each_other(one: list[Any], other: list[Any]) -> None:
    assert digest128(one) != digest128(other)


def test_a_digest_is_32_hex_digits_and_the_same_in_every_version() -> None:
    assert digest128(["a", 1, None]) == digest128(iter(["a", 1, None]))
    assert len(digest128([])) == 32
    assert digest128(["task", None, 3]) == PINNED


PINNED = "0b222394526c8949752130437acb37da"
"""Stored ids rest on it: when this changes, every id of every store changes."""

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_values_come_back_from_their_text(value: Any) -> None:
    assert jsonio.loads(jsonio.dumps(value)) == value


@given(st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=4), max_size=6), st.randoms())
def test_equal_objects_have_equal_text_whatever_their_order(value: dict[str, Any], rng: Any) -> None:
    items = list(value.items())
    rng.shuffle(items)
    assert jsonio.dumps(dict(items)) == jsonio.dumps(value)


def test_lone_surrogates_are_escaped_and_come_back() -> None:
    text = jsonio.dumps({"a": "x\ud800y"})
    assert text == '{"a":"x\\ud800y"}'
    assert text.encode() is not None
    assert jsonio.loads(text) == {"a": "x\ud800y"}


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ('"a\x1bb"', "a\x1bb"), (b'"a\x00b"', "a\x00b"), ("[1, NaN]", None), (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        ('"\\ud800"', "\ud800"), ('{"a": 1, "a": 2}', {"a": 2}),
    ],
)  # fmt: skip
def test_what_agents_write_is_read(data: str | bytes, value: Any) -> None:
    found = jsonio.loads(data)
    assert found == value or value is None


@pytest.mark.parametrize("data", ["", "{", "[1,]", "'a'", b"\xff", b'"\xff"', "[" * 200_000, '{"a":' * 200_000, "1 2"])
def test_what_is_not_json_raises_value_error(data: str | bytes) -> None:
    with pytest.raises(ValueError):
        jsonio.loads(data)


@given(st.binary(max_size=60) | st.text(max_size=60) | st.text(alphabet='{}[]",:0e+-.\\u ntf', max_size=40))
def test_no_bytes_do_worse_than_raise_value_error(data: bytes | str) -> None:
    with suppress(ValueError):
        json.dumps(jsonio.loads(data))
