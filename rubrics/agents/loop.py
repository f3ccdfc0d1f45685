"""The loop: ask, carry out the calls, ask again, until the model submits something that its reader accepts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from rubrics import jsonio
from rubrics.errors import ModelError, UnusableReply
from rubrics.models.model import Model
from rubrics.records.models import Call, Reply, Request, Tool, Usage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Handled:
    """A tool with what carries it out: arguments in, text out. Raises `ToolRefusal` for what the model did wrong."""

    tool: Tool
    handle: Callable[[Mapping[str, Any]], str]


class ToolRefusal(Exception):
    """What the model asked of a tool cannot be done; the message is shown to it."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a conversation may go."""

    turns: int = 40
    seconds: float = 1800.0
    faults: int = 4
    """Calls that cannot be carried out and submissions that are refused, together, before it is given up."""


@dataclass(slots=True)
class Conversation(Generic[T]):
    """What was said and what it came to. `messages` holds all of it, in the OpenAI form."""

    messages: list[Mapping[str, Any]]
    value: T | None = None
    replies: list[Reply] = field(default_factory=list)

    @property
    def usage(self) -> Usage:
        """Tokens of all turns; null where a turn did not say."""
        return Usage(
            *(_total(getattr(r.usage, name) for r in self.replies) for name in ("prompt", "cached", "completion"))
        )

    @property
    def cost(self) -> float | None:
        """Dollars of all turns; null when one is not known."""
        total: float | None = _total(reply.cost for reply in self.replies)
        return total


def _total(values: Any) -> Any:
    listed = list(values)
    return None if None in listed else sum(listed)


async def converse(
    model: Model,
    opening: Request,
    tools: Sequence[Handled],
    submit: Tool,
    read: Callable[[str], T],
    bounds: Bounds,
) -> Conversation[T]:
    """Let the model work with `tools` until it calls `submit` with arguments that `read` accepts.

    `opening` holds the first messages; its tools are set here. A call that cannot be carried out, or a submission
    that `read` refuses with `UnusableReply`, is answered with what was wrong. Handlers run in a thread, one at a time.
    Raises `ModelError` with kind `no_submission` (turns or time used up), the kind of the last refusal (faults used
    up), or what the client raised; `InfraError` of a handler passes through.
    """
    talk: Conversation[T] = Conversation(list(opening.messages))
    handlers = {item.tool.name: item.handle for item in tools}
    offered = (*(item.tool for item in tools), submit)
    deadline = time.monotonic() + bounds.seconds
    faults = 0
    for number in range(bounds.turns):
        if time.monotonic() > deadline:
            raise ModelError(
                "no_submission", f"no submission within {bounds.seconds:g} s, {number} turns; raise the limit"
            )
        request = Request(tuple(talk.messages), offered, None, opening.schema_name, opening.repeat, opening.purpose)
        reply = await model.turn(request)
        talk.replies.append(reply)
        talk.messages.append(as_message(reply))
        last: UnusableReply | None = None
        for call in reply.calls:
            try:
                if call.name == submit.name:
                    talk.value = read(call.arguments)
                    return talk
                said = await _carry_out(call, handlers)
            except ToolRefusal as refusal:
                faults, said, last = faults + 1, f"refused: {refusal}", UnusableReply("bad_call", str(refusal))
            except UnusableReply as refusal:
                faults, said, last = faults + 1, f"refused ({refusal.kind}): {refusal}", refusal
            talk.messages.append({"role": "tool", "tool_call_id": call.call_id, "content": said})
        if not reply.calls:
            faults, last = faults + 1, UnusableReply("no_call", "a turn without a call")
            talk.messages.append({"role": "user", "content": f"Call a tool; call {submit.name} when you are done."})
        if last is not None and faults > bounds.faults:
            raise ModelError(last.kind, f"{faults} faulty calls or submissions, the last: {last}")
    raise ModelError("no_submission", f"no submission within {bounds.turns} turns; raise the limit")


async def _carry_out(call: Call, handlers: Mapping[str, Callable[[Mapping[str, Any]], str]]) -> str:
    handle = handlers.get(call.name)
    if handle is None:
        raise ToolRefusal(f"there is no tool {call.name!r}; there are {', '.join(sorted(handlers))}")
    try:
        arguments = jsonio.loads(call.arguments or "{}")
    except ValueError as error:
        raise ToolRefusal(f"the arguments of {call.name} are no JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise ToolRefusal(f"the arguments of {call.name} are no JSON object")
    return await asyncio.to_thread(handle, arguments)


def as_message(reply: Reply) -> dict[str, Any]:
    """The reply as a message of the conversation that goes on."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = [
            {"id": c.call_id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in reply.calls
        ]
    elif not reply.text:
        message["content"] = ""
    return message
