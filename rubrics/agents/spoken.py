"""What a model said, as a message of the conversation that goes on. Pure.

A conversation is sent again with every turn, to endpoints that refuse all of it for one thing that is not as they want
it: ids of calls have to differ, names of tools be names, arguments be JSON, sizes stay small.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from rubrics import jsonio
from rubrics.records.models import Call, Reply
from rubrics.visible import shortened

LONGEST_TEXT = 8_000
"""Characters of what the model says beside its calls that are kept."""
LONGEST_ARGUMENTS = 60_000
"""Characters of the arguments of one call that are kept."""


def as_message(reply: Reply) -> dict[str, Any]:
    """The reply as a message of the conversation that goes on."""
    text = shortened(reply.text, LONGEST_TEXT)
    message: dict[str, Any] = {"role": "assistant", "content": text or ("" if not reply.calls else None)}
    if reply.calls:
        message["tool_calls"] = [
            {"id": call.call_id, "type": "function", "function": {"name": _name(call), "arguments": _arguments(call)}}
            for call in reply.calls
        ]
    return message


def with_own_ids(reply: Reply, taken: Collection[str]) -> Reply:
    """The reply with ids of calls that are neither empty nor taken, nor one another's."""
    return replace(reply, calls=tuple(_renamed(reply.calls, set(taken))))


def _renamed(calls: tuple[Call, ...], taken: set[str]) -> Iterator[Call]:
    for call in calls:
        call_id = call.call_id
        if not call_id or call_id in taken or len(call_id) > 64:
            call_id = f"call-{len(taken)}"
            while call_id in taken:
                call_id += "-"
        taken.add(call_id)
        yield replace(call, call_id=call_id)


def _name(call: Call) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", call.name)[:64] or "unnamed"


def _arguments(call: Call) -> str:
    """As written where that is a JSON object of bearable size, else an object that says what was written."""
    if len(call.arguments) <= LONGEST_ARGUMENTS and parsed(call) is not None:
        return call.arguments or "{}"
    return jsonio.dumps({"as_written": shortened(call.arguments, 2_000)})


def parsed(call: Call) -> dict[str, Any] | None:
    """The arguments of a call; null when they are no JSON object."""
    try:
        values = jsonio.loads(call.arguments or "{}")
    except ValueError:
        return None
    return values if isinstance(values, dict) else None
