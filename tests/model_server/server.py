"""The server: runs in a thread on a loopback port, hands every request to a script, remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass(frozen=True)
class Said:
    """What the model says: text, or calls of tools as (name, arguments); dicts become JSON, texts go as they are."""

    text: str | None = None
    calls: tuple[tuple[str, Any], ...] = ()
    finish: str | None = None
    model: str | None = None
    """Name in the reply; null: the one that was asked for."""
    usage: dict[str, Any] | None = field(default_factory=dict)
    """Fields that replace those counted here; null: no usage at all."""
    refusal: str | None = None
    """Words in which the model declines; null: it does not."""
    choices: bool = True
    """Whether the answer holds a choice at all."""
    cut: bool = False
    """The connection ends in the middle of the answer, streamed or not."""
    unfinished: bool = False
    """A stream ends in good order, but before the last part of its answer; a whole answer is cut."""


@dataclass(frozen=True)
class Raw:
    """An HTTP answer as it is: for faults."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut_after: int | None = None
    """Bytes of the body after which the connection is cut."""


class Hang:
    """Never answers; the connection stays open until the server ends."""


Script = Callable[[dict[str, Any]], "Said | Raw | Hang | str | dict[str, Any]"]
"""Request body -> what happens. A str is text, a dict is JSON text."""


class ModelServer:
    """What a test holds: the address, and every request body in the order of arrival."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""
        self.latency = 0.0
        """Seconds before each answer."""
        self.under_way = self.most_under_way = 0
        self._ended = asyncio.Event()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            return await self._respond(request)
        finally:
            self.under_way -= 1

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        if self.latency:
            await asyncio.sleep(self.latency)
        said = self.script(body)
        if isinstance(said, Hang):
            await self._ended.wait()
            return web.Response(status=503)
        if isinstance(said, Raw):
            return await _raw(request, said)
        if isinstance(said, str | dict):
            said = Said(said if isinstance(said, str) else json.dumps(said))
        if body.get("stream"):
            return await _streamed(request, body, said)
        whole = json.dumps(completion(body, said)).encode()
        if said.cut or said.unfinished:
            return await _raw(request, Raw(200, whole, {"Content-Type": "application/json"}, len(whole) // 2))
        return web.Response(body=whole, content_type="application/json")


def completion(body: dict[str, Any], said: Said) -> dict[str, Any]:
    """The whole answer in the protocol's form. Tokens are counted as four characters each."""
    message: dict[str, Any] = {"role": "assistant", "content": said.text}
    if said.refusal is not None:
        message["refusal"] = said.refusal
    if said.calls:
        message["tool_calls"] = [
            {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": _text(arguments)}}
            for i, (name, arguments) in enumerate(said.calls)
        ]
    finish = said.finish or ("tool_calls" if said.calls else "stop")
    answer: dict[str, Any] = {
        "id": "scripted", "object": "chat.completion", "created": 0, "model": said.model or body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}] if said.choices else [],
    }  # fmt: skip
    if said.usage is not None:
        asked = len(json.dumps(body["messages"])) // 4
        made = len(said.text or "") // 4 + sum(len(_text(arguments)) for _, arguments in said.calls) // 4
        answer["usage"] = {
            "prompt_tokens": asked, "completion_tokens": made, "total_tokens": asked + made,
            "prompt_tokens_details": {"cached_tokens": 0}, **said.usage,
        }  # fmt: skip
    return answer


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


async def _raw(request: web.Request, said: Raw) -> web.StreamResponse:
    if said.cut_after is None:
        return web.Response(status=said.status, body=said.body, headers=said.headers)
    response = web.StreamResponse(status=said.status, headers={**said.headers, "Content-Length": str(len(said.body))})
    await response.prepare(request)
    await response.write(said.body[: said.cut_after])
    assert request.transport is not None
    request.transport.close()
    return response


async def _streamed(request: web.Request, body: dict[str, Any], said: Said) -> web.StreamResponse:
    whole = completion(body, said)
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    common = {**{key: whole[key] for key in ("id", "created", "model")}, "object": "chat.completion.chunk"}
    chunks = [{**common, "choices": [c]} for choice in whole["choices"] for c in _parts(choice)]
    if said.cut or said.unfinished:
        chunks = chunks[: len(chunks) // 2]
    elif "usage" in whole:
        chunks.append({**common, "choices": [], "usage": whole["usage"]})
    for chunk in chunks:
        await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
    if said.cut:
        assert request.transport is not None
        request.transport.close()
    elif not said.unfinished:
        await response.write(b"data: [DONE]\n\n")
    return response


def _parts(choice: dict[str, Any]) -> list[dict[str, Any]]:
    """A choice as the parts in which it is streamed; arguments of calls come in two halves."""
    message = choice["message"]
    deltas: list[dict[str, Any]] = [{"role": "assistant"}]
    for name in ("content", "refusal"):
        text = message.get(name) or ""
        deltas += [{name: text[start : start + 50]} for start in range(0, len(text), 50)]
    for i, call in enumerate(message.get("tool_calls", ())):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        half = len(arguments) // 2
        first = {"name": name, "arguments": arguments[:half]}
        deltas.append({"tool_calls": [{"index": i, "id": call["id"], "type": "function", "function": first}]})
        deltas.append({"tool_calls": [{"index": i, "function": {"arguments": arguments[half:]}}]})
    parts = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    return [*parts, {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]


@contextmanager
def serving(script: Script) -> Iterator[ModelServer]:
    """A running server; its `url` ends in `/v1`."""
    server = ModelServer(script)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    runner = asyncio.run_coroutine_threadsafe(_start(server), loop).result(30)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(server._ended.set)
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()


async def _start(server: ModelServer) -> web.AppRunner:
    app = web.Application(client_max_size=1 << 30)
    app.router.add_post("/v1/chat/completions", server._answer)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    return runner
