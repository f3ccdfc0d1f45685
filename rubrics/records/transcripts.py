"""Transcripts as stored text: one JSON string, equal for equal transcripts."""

from __future__ import annotations

from typing import Any

from rubrics import jsonio
from rubrics.digests import digest128
from rubrics.records.rollouts import ToolCall, Turn


def to_json(turns: tuple[Turn, ...]) -> str:
    """The turns as one JSON list; absent fields are left out."""
    return jsonio.dumps([_turn_to_dict(turn) for turn in turns])


def from_json(text: str) -> tuple[Turn, ...]:
    """The turns that `to_json` wrote."""
    return tuple([_turn_from_dict(item) for item in jsonio.loads(text)])


def digest(text: str) -> str:
    """128-bit digest of a transcript in its stored form."""
    return digest128([text])


def _turn_to_dict(turn: Turn) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": turn.role, "text": turn.text}
    if turn.reasoning is not None:
        fields["reasoning"] = turn.reasoning
    if turn.observation is not None:
        fields["observation"] = turn.observation
    if turn.exit_code is not None:
        fields["exit_code"] = turn.exit_code
    if turn.input_tokens is not None:
        fields["input_tokens"] = turn.input_tokens
    if turn.output_tokens is not None:
        fields["output_tokens"] = turn.output_tokens
    if turn.tool_calls:
        fields["tool_calls"] = [
            {"name": call.name, "arguments": call.arguments, "raw": call.raw, "call_id": call.call_id}
            for call in turn.tool_calls
        ]
    if turn.flags:
        fields["flags"] = list(turn.flags)
    return fields


def _turn_from_dict(fields: dict[str, Any]) -> Turn:
    if "tool_calls" in fields:
        fields["tool_calls"] = tuple([ToolCall(**call) for call in fields["tool_calls"]])
    if "flags" in fields:
        fields["flags"] = tuple(fields["flags"])
    return Turn(**fields)
