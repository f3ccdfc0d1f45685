"""Building a transcript: what a tool answered is folded into the turn that called it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from rubrics import jsonio
from rubrics.ingest.documents import depth_within, finite, storable
from rubrics.records.rollouts import ToolCall, Turn

MAX_DEPTH = 60
"""Arguments nested deeper are not parsed: no tool takes such, and stored JSON must stay readable."""

MALFORMED = "malformed_call"
TRUNCATED = "truncated_observation"
DEMONSTRATION = "demonstration"

_RETURN_CODE = re.compile(r"\s*<returncode>(-?\d{1,9})</returncode>")
_CLIPPED = re.compile(r"<elided_chars>|<response clipped>|\[\.\.\. Observation truncated|<NOTE>To save on context")


class TranscriptBuilder:
    """Collects the turns of one attempt in order; `turns()` gives them."""

    def __init__(self) -> None:
        self._turns: list[dict[str, Any]] = []
        self._speaker: dict[str, Any] | None = None

    @property
    def awaits_answer(self) -> bool:
        """Whether the last turn called something that nothing has answered yet."""
        last = self._turns[-1] if self._turns else None
        return last is not None and bool(last.get("tool_calls")) and last.get("observation") is None

    @property
    def unanswered(self) -> bool:
        """Whether the model's last turn has no observation."""
        return self._speaker is not None and self._speaker.get("observation") is None

    def say(
        self,
        role: str,
        text: str,
        *,
        reasoning: str | None = None,
        calls: tuple[ToolCall, ...] = (),
        tokens: tuple[int | None, int | None] = (None, None),
        flags: tuple[str, ...] = (),
    ) -> None:
        """Add a turn. A call without arguments flags it."""
        if any(call.arguments is None for call in calls) and MALFORMED not in flags:
            flags = (*flags, MALFORMED)
        turn = {
            "role": role, "text": text, "reasoning": reasoning, "tool_calls": calls, "flags": flags,
            "input_tokens": tokens[0], "output_tokens": tokens[1],
        }  # fmt: skip
        self._turns.append(turn)
        if role == "assistant":
            self._speaker = turn

    def observe(self, text: str, exit_code: int | None = None) -> None:
        """Fold an answer into the assistant turn before it; without one it is a user turn."""
        if self._speaker is None:
            self.say("user", text)
            return
        before = self._speaker.get("observation")
        self._speaker["observation"] = text if before is None else f"{before}\n{text}"
        if exit_code is None and (stated := _RETURN_CODE.match(text)):
            exit_code = int(stated.group(1))
        if exit_code is not None:
            self._speaker["exit_code"] = exit_code
        if TRUNCATED not in self._speaker["flags"] and _CLIPPED.search(text):
            self._speaker["flags"] = (*self._speaker["flags"], TRUNCATED)

    def turns(self) -> tuple[Turn, ...]:
        return tuple(Turn(**fields) for fields in self._turns)


def call_of(name: str, arguments: object, call_id: str | None = None) -> ToolCall:
    """A tool call from arguments as written: JSON text, or an object. What cannot be parsed has null arguments."""
    if isinstance(arguments, str):
        return ToolCall(name, _parsed(arguments), arguments, call_id)
    if isinstance(arguments, Mapping):
        stored = _stored(arguments)
        raw = "(nested too deeply to be stored)" if stored is None else jsonio.dumps(stored)
        return ToolCall(name, stored, raw, call_id)
    return ToolCall(name, None, "" if arguments is None else str(arguments), call_id)


def command_call(command: str, call_id: str | None = None) -> ToolCall:
    """A shell command or a text action as a call of `bash`."""
    return ToolCall("bash", {"command": command}, command, call_id)


def tool_calls_of(calls: object) -> tuple[ToolCall, ...]:
    """Calls in OpenAI's form (`{id, function: {name, arguments}}`) or flat (`{name, arguments, call_id}`)."""
    if not isinstance(calls, (list, tuple)):
        return ()
    return tuple([_tool_call(call) for call in calls])


def _tool_call(call: object) -> ToolCall:
    if not isinstance(call, dict):
        return ToolCall("", None, str(call))
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    name = str(inner.get("name") or call.get("function_name") or "")
    given = call.get("id") or call.get("call_id") or call.get("tool_call_id")
    call_id = str(given) if given else None
    arguments, raw = inner.get("arguments"), inner.get("raw")
    if isinstance(raw, str) and (arguments is None or isinstance(arguments, dict)):
        return ToolCall(name, None if arguments is None else _stored(arguments), raw, call_id)
    return call_of(name, arguments, call_id)


def _stored(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments as their stored JSON gives them back; null when they are nested too deeply."""
    plain = dict(arguments)
    for value in plain.values():
        if not isinstance(value, str):
            return finite(plain) if depth_within(plain, MAX_DEPTH) else None
    return plain


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            value = finite(storable(jsonio.loads(text)))
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, dict):
        return None
    crowded = text.count("{") + text.count("[") > MAX_DEPTH
    return None if crowded and not depth_within(value, MAX_DEPTH) else value


def assistant_turns(turns: tuple[Turn, ...]) -> int:
    """Number of turns that the attempt itself took: assistant turns that are no demonstrations."""
    return sum(turn.role == "assistant" and DEMONSTRATION not in turn.flags for turn in turns)


def token_sums(turns: tuple[Turn, ...]) -> tuple[int | None, int | None]:
    """Input and output tokens over all turns; null where no turn has a count."""
    sent = [turn.input_tokens for turn in turns if turn.input_tokens is not None]
    received = [turn.output_tokens for turn in turns if turn.output_tokens is not None]
    return (sum(sent) if sent else None, sum(received) if received else None)
