"""Chat messages (OpenAI's roles, `exit`, text actions) to turns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from rubrics.ingest.turns import MALFORMED, TranscriptBuilder, call_of, command_call, tool_calls_of
from rubrics.ingest.values import Ignored, inside, plain_text
from rubrics.records.rollouts import ToolCall, Turn

SPEAKERS = {"system": "system", "developer": "system", "assistant": "assistant", "user": "user"}
TOOLS = frozenset({"tool", "function", "ipython", "observation", "environment"})

_OPENS = re.compile(r"```(?:mswea_bash_command|bash|sh|shell)[ \t]*")


def chat_turns(
    messages: Sequence[Mapping[str, Any]], *, text_actions: bool = False, ignored: Ignored | None = None
) -> tuple[Turn, ...]:
    """Turns of a chat. With `text_actions` a fenced command is a call, and the user message after it its answer.

    Messages of role `exit` are no turns; copies of the provider's response are dropped. `ignored`
    collects the numbers that are read as null.
    """
    ignored = ignored or Ignored()
    builder = TranscriptBuilder()
    for message in messages:
        role = str(message.get("role"))
        if role == "exit":
            continue
        text = plain_text(message.get("content"))
        if role in TOOLS or (text_actions and role == "user" and builder.awaits_answer):
            builder.observe(text, ignored.whole(inside(message, "extra"), "returncode"))
        elif role == "assistant":
            _speak(builder, message, text, text_actions, ignored)
        else:
            builder.say(SPEAKERS.get(role, "user"), text)
    return builder.turns()


def commands_in(text: str) -> tuple[str, ...]:
    """Commands of the fenced shell blocks of a text. A block that does not end is none; linear in the text."""
    if "```" not in text:
        return ()
    commands: list[str] = []
    block: list[str] | None = None
    for line in text.split("\n"):
        if block is None:
            block = [] if _OPENS.fullmatch(line) else None
        elif line.rstrip(" \t") == "```":
            commands.append("\n".join(block))
            block = None
        else:
            block.append(line)
    return tuple(commands)


def is_chat(value: object) -> TypeGuard[list[dict[str, Any]]]:
    """Whether the value is a list of messages with roles."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) and "role" in item for item in value)


def _speak(
    builder: TranscriptBuilder, message: Mapping[str, Any], text: str, text_actions: bool, ignored: Ignored
) -> None:
    calls, flags = _calls(message, text, text_actions)
    tokens = _usage(message, ignored)
    builder.say("assistant", text, reasoning=_reasoning(message), calls=calls, tokens=tokens, flags=flags)


def _calls(message: Mapping[str, Any], text: str, text_actions: bool) -> tuple[tuple[ToolCall, ...], tuple[str, ...]]:
    """The message's calls, and a flag when a text action did not keep to one command a message."""
    if message.get("tool_calls"):
        return tool_calls_of(message["tool_calls"]), ()
    legacy = message.get("function_call")
    if isinstance(legacy, Mapping):
        return (call_of(str(legacy.get("name") or ""), legacy.get("arguments")),), ()
    actions = inside(message, "extra").get("actions")
    if isinstance(actions, list) and actions:
        commands = tuple(str(item.get("command", "")) for item in actions if isinstance(item, Mapping))
    else:
        commands = commands_in(text) if text_actions else ()
    return tuple(command_call(command) for command in commands), (MALFORMED,) if len(commands) > 1 else ()


def _reasoning(message: Mapping[str, Any]) -> str | None:
    for key in ("reasoning_content", "reasoning"):
        value = message.get(key)
        if isinstance(value, str) and value:
            return value
    blocks = message.get("thinking_blocks")
    if isinstance(blocks, list):
        parts = [
            item["thinking"] for item in blocks if isinstance(item, Mapping) and isinstance(item.get("thinking"), str)
        ]
        return "\n".join(parts) or None
    return None


def _usage(message: Mapping[str, Any], ignored: Ignored) -> tuple[int | None, int | None]:
    usage = inside(message, "usage") or inside(inside(inside(message, "extra"), "response"), "usage")
    if not usage:
        return ignored.count(message, "input_tokens"), ignored.count(message, "output_tokens")
    sent, received = (
        next((key for key in keys if key in usage), keys[0])
        for keys in (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))
    )
    return ignored.count(usage, sent), ignored.count(usage, received)
