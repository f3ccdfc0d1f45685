"""A whole conversation as Markdown for people. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rubrics import jsonio
from rubrics.records.models import Tool
from rubrics.visible import one_line, visible

_TICKS = re.compile(r"`{3,}")


def conversation_text(messages: Iterable[Mapping[str, Any]], tools: Sequence[Tool] = ()) -> str:
    """Messages in the OpenAI form, in their order, each under a heading of its own, and the tools that were offered.

    What was said stands in code blocks that it cannot end; hidden characters are shown as escapes.
    """
    return "\n\n".join([*_offered(tools), *_spoken(messages)]) + "\n"


def _offered(tools: Sequence[Tool]) -> Iterator[str]:
    if tools:
        yield "## Tools"
        yield "\n".join(
            f"- `{tool.name}({', '.join(_arguments(tool))})`: {one_line(tool.description)}" for tool in tools
        )


def _arguments(tool: Tool) -> Iterator[str]:
    required = tool.parameters.get("required", ())
    for name in tool.parameters.get("properties", {}):
        yield name if name in required else f"[{name}]"


def _spoken(messages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    answers: dict[str, str] = {}
    for number, message in enumerate(messages):
        role = message.get("role")
        if role == "tool":
            called = answers.get(str(message.get("tool_call_id")), "a tool")
            yield f"## {number}. Answer of {called}"
        else:
            yield f"## {number}. {one_line(str(role)).capitalize()}"
        if message.get("content"):
            yield _block(str(message["content"]))
        for call in message.get("tool_calls") or ():
            name = one_line(str(call["function"]["name"])).replace("`", "'")
            answers[str(call["id"])] = f"`{name}`"
            yield f"Calls `{name}`:"
            yield _block(_pretty(call["function"]["arguments"]), "json")


def _pretty(arguments: str) -> str:
    """Arguments over several lines where they are JSON."""
    try:
        return json.dumps(jsonio.loads(arguments), indent=1, ensure_ascii=False)
    except ValueError:
        return arguments


def _block(text: str, language: str = "text") -> str:
    """A code block whose fence is longer than any in the text."""
    ticks = "`" * max([3, *(len(found) + 1 for found in _TICKS.findall(text))])
    return f"{ticks}{language}\n{visible(text).rstrip()}\n{ticks}"
