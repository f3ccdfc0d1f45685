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
    return tuple(_turn_from_dict(item) for item in jsonio.loads(text))


def digest(text: str) -> str:
    """128-bit digest of a transcript in its stored form."""
    return digest128([text])


def _turn_to_dict(turn: Turn) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": turn.role, "text": turn.text}
    for name in ("reasoning", "observation", "exit_code", "input_tokens", "output_tokens"):
        value = getattr(turn, name)
        if value is not None:
            fields[name] = value
    if turn.tool_calls:
        fields["tool_calls"] = [
            {"name": call.name, "arguments": call.arguments, "raw": call.raw, "call_id": call.call_id}
            for call in turn.tool_calls
        ]
    if turn.flags:
        fields["flags"] = list(turn.flags)
    return fields


def _turn_from_dict(fields: dict[str, Any]) -> Turn:
    calls = tuple(ToolCall(**call) for call in fields.get("tool_calls", ()))
    rest = {key: value for key, value in fields.items() if key not in ("tool_calls", "flags")}
    return Turn(tool_calls=calls, flags=tuple(fields.get("flags", ())), **rest)
