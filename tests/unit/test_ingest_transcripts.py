"""Transcripts keep every character, from the dump to the stored form and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ingest_helpers import native, read, write_lines

from rubrics.ingest.aider import chat_turns as aider_turns
from rubrics.ingest.chat import chat_turns
from rubrics.ingest.turns import TranscriptBuilder, call_of
from rubrics.records import transcripts
from rubrics.records.rollouts import Turn

TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
SMALL = st.integers(-(2**63), 2**63 - 1) | st.none()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
CALL = st.fixed_dictionaries(
    {"name": TEXT, "arguments": st.dictionaries(TEXT, JSON, max_size=3) | st.none(), "raw": TEXT}
)
TURN = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant"]), "text": TEXT},
    optional={
        "reasoning": TEXT,
        "tool_calls": st.lists(CALL, max_size=3),
        "observation": TEXT,
        "exit_code": SMALL,
        "input_tokens": st.integers(0, 2**60),
        "output_tokens": st.none(),
        "flags": st.lists(st.sampled_from(["truncated_observation", "demonstration"]), max_size=2),
    },
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=st.lists(TURN, min_size=1, max_size=4))
def test_native_turns_survive_reading_and_storing(tmp_path: Path, turns: list[dict[str, Any]]) -> None:
    found = read(write_lines(tmp_path / "r.jsonl", [native(turns=turns)])).rollout.turns
    assert found is not None
    stored = transcripts.to_json(found)
    stored.encode()  # what Parquet does
    assert transcripts.from_json(stored) == found
    assert [turn.text for turn in found] == [_storable(turn["text"]) for turn in turns]
    again = read(write_lines(tmp_path / "r.jsonl", [native(turns=json.loads(stored))])).rollout.turns
    assert again is not None
    assert transcripts.to_json(again) == stored


@given(st.lists(st.tuples(st.sampled_from(["system", "user", "assistant", "tool", "exit"]), TEXT), max_size=8))
def test_no_message_of_a_chat_is_lost_or_changed(messages: list[tuple[str, str]]) -> None:
    turns = chat_turns([{"role": role, "content": text} for role, text in messages])
    assert transcripts.from_json(transcripts.to_json(turns)) == turns
    kept = "".join(turn.text + (turn.observation or "") for turn in turns)
    assert all(text in kept for role, text in messages if role != "exit")


PIECES = ("> ", "#### ", "x", "\n", "  \n", "```", "<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n")


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_chat_file_of_aider_is_read(text: str) -> None:
    turns = aider_turns(text)
    assert transcripts.from_json(transcripts.to_json(turns)) == turns


def test_a_tool_reply_is_the_observation_of_the_turn_that_called() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"a": 1}'}}
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": [call, call]},
        {"role": "tool", "content": "one", "extra": {"returncode": 0}},
        {"role": "tool", "content": "two", "extra": {"returncode": 3}},
        {"role": "user", "content": "go on"},
    ]
    first, second = chat_turns(messages)
    assert (first.text, first.observation, first.exit_code) == ("", "one\ntwo", 3)
    assert first.tool_calls[0].arguments == {"a": 1}
    assert first.tool_calls[0].call_id == "c1"
    assert second == Turn("user", "go on")


def test_consecutive_user_turns_and_system_turns_in_the_middle_stay() -> None:
    roles = ["user", "user", "system", "assistant", "system"]
    assert [turn.role for turn in chat_turns([{"role": role, "content": "x"} for role in roles])] == roles


def test_an_answer_before_any_assistant_is_a_user_turn() -> None:
    assert chat_turns([{"role": "tool", "content": "x"}]) == (Turn("user", "x"),)


def test_arguments_that_are_no_json_object_flag_their_turn() -> None:
    for raw in ('{"command": ', "[1]", "", '"text"'):
        builder = TranscriptBuilder()
        builder.say("assistant", "", calls=(call_of("bash", raw),))
        (turn,) = builder.turns()
        assert turn.tool_calls[0].arguments is None
        assert turn.tool_calls[0].raw == raw
        assert turn.flags == ("malformed_call",)


def test_an_elided_observation_is_flagged_as_truncated() -> None:
    messages = [{"role": "assistant", "content": "x"}, {"role": "tool", "content": "a<elided_chars>9</elided_chars>"}]
    assert chat_turns(messages)[0].flags == ("truncated_observation",)


def test_a_return_code_in_the_text_is_the_exit_code() -> None:
    messages = [{"role": "assistant", "content": "x"}, {"role": "tool", "content": "<returncode>-9</returncode>\n"}]
    assert chat_turns(messages)[0].exit_code == -9


def test_an_edit_block_that_does_not_end_is_a_malformed_call() -> None:
    (turn,) = aider_turns("a.py\n```python\n<<<<<<< SEARCH\nx\n=======\ny\n")
    assert turn.flags == ("malformed_call",)


def _storable(text: str) -> str:
    return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)
