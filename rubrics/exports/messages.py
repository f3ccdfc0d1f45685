"""Transcripts as OpenAI chat messages: what the policy was given, and what it and its tools said after that.

A text action (a command inside the text) stays text and its observation becomes a user message; a function call becomes
`tool_calls` and its observation a tool message. Several calls of one turn were recorded with one observation: it
answers the last of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rubrics import jsonio
from rubrics.records.rollouts import ToolCall, Turn

Message = dict[str, Any]
DEMONSTRATION = "demonstration"


@dataclass(frozen=True, slots=True)
class Conversation:
    prompt: tuple[Message, ...]
    """Role and content only; demonstrations are told as text."""
    completion: tuple[Message, ...]
    places: dict[int, int]
    """Index of a turn in the transcript -> index of its message in the completion."""


def conversation(turns: Sequence[Turn]) -> Conversation:
    """Split a transcript before its first assistant turn that is no demonstration."""
    first = next((place for place, turn in enumerate(turns) if is_own(turn)), len(turns))
    prompt = [message for turn in turns[:first] for message in _as_text(turn)]
    completion: list[Message] = []
    places: dict[int, int] = {}
    for place, turn in enumerate(turns[first:], first):
        places[place] = len(completion)
        completion += _as_messages(place, turn)
    return Conversation(tuple(prompt), tuple(completion), places)


def is_own(turn: Turn) -> bool:
    """Whether the policy said this itself."""
    return turn.role == "assistant" and DEMONSTRATION not in turn.flags


def _as_text(turn: Turn) -> list[Message]:
    calls = [call.raw for call in turn.tool_calls if not _is_in_text(call, turn.text)]
    messages: list[Message] = [{"role": turn.role, "content": "\n".join(filter(None, [turn.text, *calls]))}]
    if turn.observation is not None:
        messages.append({"role": "user", "content": turn.observation})
    return messages


def _as_messages(place: int, turn: Turn) -> list[Message]:
    calls = [call for call in turn.tool_calls if not _is_in_text(call, turn.text)]
    message: Message = {"role": turn.role, "content": turn.text}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    if not calls:
        answer = [] if turn.observation is None else [{"role": "user", "content": turn.observation}]
        return [message, *answer]
    names = _call_ids(place, calls)
    message["tool_calls"] = [
        {"id": name, "type": "function", "function": {"name": call.name, "arguments": _arguments(call)}}
        for name, call in zip(names, calls, strict=True)
    ]
    if turn.observation is None:
        return [message]
    answers = ["" for _ in names[1:]] + [turn.observation]
    told = zip(names, answers, strict=True)
    return [message, *({"role": "tool", "tool_call_id": name, "content": answer} for name, answer in told)]


def _call_ids(place: int, calls: Sequence[ToolCall]) -> list[str]:
    """The recorded ids where there are any and they differ, else ones made from the places."""
    given = [call.call_id or f"call_{place}_{number}" for number, call in enumerate(calls)]
    return given if len(set(given)) == len(given) else [f"call_{place}_{number}" for number in range(len(calls))]


def _is_text_action(call: ToolCall) -> bool:
    return call.name == "bash" and call.arguments is not None and call.arguments.get("command") == call.raw


def _is_in_text(call: ToolCall, text: str) -> bool:
    """Whether the call is a text action that the turn's text already says."""
    return _is_text_action(call) and (call.raw.strip() in text or "<function=" in text)


def _arguments(call: ToolCall) -> str:
    """JSON text; arguments that could not be parsed stay as they were written."""
    if call.arguments is None:
        return call.raw
    try:
        return call.raw if isinstance(json.loads(call.raw), dict) else jsonio.dumps(dict(call.arguments))
    except (ValueError, RecursionError):
        return jsonio.dumps(dict(call.arguments))
