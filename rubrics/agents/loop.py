"""The loop: ask, carry out the calls, ask again, until the model submits something that its reader accepts.

Messages are only ever appended to, so each request starts with all of the one before it: what a provider's prefix cache
serves. Bounds end a conversation by a failure with a class; there is no result but an accepted submission.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from rubrics import jsonio
from rubrics.agents.conversation import Bounds, Conversation, Handled, Handler, ToolRefusal
from rubrics.agents.spoken import as_message, parsed, with_own_ids
from rubrics.agents.threads import in_thread
from rubrics.errors import ModelError, UnusableReply
from rubrics.models.model import CUT_OFF, Model
from rubrics.records.models import Call, Reply, Request, Tool

__all__ = ["Bounds", "Conversation", "Handled", "ToolRefusal", "converse"]

T = TypeVar("T")


async def converse(
    model: Model,
    opening: Request,
    tools: Sequence[Handled],
    submit: Tool,
    read: Callable[[str], T],
    bounds: Bounds,
    talk: Conversation[T] | None = None,
) -> Conversation[T]:
    """Let the model work with `tools` until it calls `submit` with arguments that `read` accepts.

    `opening` holds the first messages; its tools are set here. A call that cannot be carried out, or a submission
    that `read` refuses with `UnusableReply`, is answered with what was wrong. The calls of a turn are carried out in
    their order, one at a time, up to a submission that is accepted; of several submissions in one turn none is.
    `talk` is filled where it is given, so that a failure leaves what was said. A conversation that was cut off (the
    process killed, the endpoint gone, a tool broken) goes on from what is on record when it is held again; one that
    came to nothing is held anew.
    Raises `ModelError` with kind `no_submission` (turns, time or tokens used up), `context_too_long`, `wrong_model`
    (turns answered by different models), the kind of the last refusal (faults used up), or what the client raised;
    `InfraError` of a handler passes through.
    """
    talk = Conversation([]) if talk is None else talk
    talk.messages[:] = opening.messages
    loop = _Loop(model, opening, tools, submit, read, bounds, talk)
    try:
        return await loop.run()
    except ModelError as error:
        if error.kind not in CUT_OFF:
            await model.forget(loop.asked)
        raise


class _Loop(Generic[T]):
    """One conversation under way."""

    def __init__(
        self, model: Model, opening: Request, tools: Sequence[Handled], submit: Tool, read: Callable[[str], T],
        bounds: Bounds, talk: Conversation[T],
    ) -> None:  # fmt: skip
        self._model, self._opening, self._submit, self._read = model, opening, submit, read
        self._handlers: dict[str, Handler] = {item.tool.name: item.handle for item in tools}
        self._offered = (*(item.tool for item in tools), submit)
        self._bounds, self._talk = bounds, talk
        self._deadline = time.monotonic() + bounds.seconds
        self._size = sum(len(jsonio.dumps(message)) for message in talk.messages)
        self.asked: list[Request] = []
        self._ids: set[str] = set()
        self._faults = 0
        self._last = UnusableReply("no_call", "nothing was called")

    async def run(self) -> Conversation[T]:
        for left in reversed(range(self._bounds.turns)):
            reply = await self._turn()
            self._add(as_message(reply))
            for position, call in enumerate(reply.calls):
                said, accepted = await self._answer(call, reply, position)
                last = position == len(reply.calls) - 1
                said += self._reminder(left, len(said)) if last and not accepted else ""
                self._add({"role": "tool", "tool_call_id": call.call_id, "content": said})
                if accepted:
                    return self._talk
            if not reply.calls:
                self._fault(UnusableReply("no_call", "your turn called no tool"))
                said = f"Your turn called no tool. Call a tool; call {self._submit.name} when you are done."
                self._add({"role": "user", "content": said})
            if self._faults > self._bounds.faults:
                message = f"{self._faults} faulty calls or submissions, the last: {self._last}"
                raise ModelError(self._last.kind, message)
        raise self._unfinished(f"{self._bounds.turns} turns")

    async def _turn(self) -> Reply:
        made, talk = self._opening, self._talk
        request = Request(tuple(talk.messages), self._offered, None, made.schema_name, made.repeat, made.purpose)
        usage = talk.usage
        if (usage.prompt or 0) + (usage.completion or 0) > self._bounds.tokens:
            raise self._unfinished(f"{self._bounds.tokens} tokens")
        left = self._deadline - time.monotonic()
        self.asked.append(request)
        try:
            async with asyncio.timeout(left) as limit:
                reply = await self._model.turn(request)
        except TimeoutError:
            if not limit.expired():
                raise
            raise self._unfinished(f"{self._bounds.seconds:g} s") from None
        models = {said.model for said in talk.replies} | {reply.model}
        if len(models) > 1:
            raise ModelError("wrong_model", f"the turns were answered by {', '.join(sorted(models))}; one has to")
        reply = with_own_ids(reply, self._ids)
        self._ids.update(call.call_id for call in reply.calls)
        talk.replies.append(reply)
        return reply

    async def _answer(self, call: Call, reply: Reply, position: int) -> tuple[str, bool]:
        """What is answered to a call, and whether it was a submission that is accepted."""
        try:
            if call.name == self._submit.name:
                if sum(other.name == call.name for other in reply.calls) > 1:
                    raise UnusableReply("repeated_submission", f"{call.name} was called twice in a turn; call it once")
                self._talk.value = self._read(call.arguments)
                return "accepted", True
            if position >= self._bounds.calls:
                raise ToolRefusal(f"only the first {self._bounds.calls} calls of a turn are carried out")
            return await self._carry_out(call), False
        except ToolRefusal as refusal:
            self._fault(UnusableReply("bad_call", str(refusal)))
            return f"refused: {refusal}", False
        except UnusableReply as refusal:
            self._fault(refusal)
            return f"refused ({refusal.kind}): {refusal}", False

    async def _carry_out(self, call: Call) -> str:
        handle = self._handlers.get(call.name)
        if handle is None:
            raise ToolRefusal(f"there is no tool {call.name!r:.80}; there are {', '.join(sorted(self._handlers))}")
        arguments = parsed(call)
        if arguments is None:
            raise ToolRefusal(f"the arguments of {call.name} are no JSON object")
        return await in_thread(partial(handle, arguments))

    def _fault(self, refusal: UnusableReply) -> None:
        self._faults, self._last = self._faults + 1, refusal

    def _add(self, message: dict[str, Any]) -> None:
        self._talk.messages.append(message)
        self._size += len(jsonio.dumps(message))
        if self._size > self._bounds.characters:
            limit = f"the limit is {self._bounds.characters}"
            raise ModelError("context_too_long", f"the conversation has {self._size} characters; {limit}: raise it")

    def _reminder(self, left: int, said: int) -> str:
        """What the model is told when an end is near; `said`: characters of the answer that it stands under."""
        room = self._bounds.characters - self._size - said
        if left > 3 and room > self._bounds.characters // 5:
            return ""
        what = f"{left} turns are left" if left <= 3 else f"{room} characters of room are left"
        return f"\n[{what}: call {self._submit.name} now]"

    def _unfinished(self, used: str) -> ModelError:
        return ModelError("no_submission", f"no submission within {used}; raise the limit")
