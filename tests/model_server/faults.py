"""Ways to misbehave, by name: of the transport, of the protocol, and of what a reply says.

A `Spoiler` takes the good reply (any dict; criteria are looked for in it) and returns what the server answers instead.
`TRANSPORT` and `PROTOCOL` fail before any reader sees the reply, with the kind that stands beside them. `CONTENT`
arrives in good order, and a strict reader has to refuse it.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Iterable
from email.utils import formatdate
from typing import Any

from model_server.server import Hang, Raw, Said, Script

Good = dict[str, Any]
Answered = Said | Raw | Hang | str
Spoiler = Callable[[Good], Answered]
JSON = {"Content-Type": "application/json"}


def error(status: int, message: str, code: str | None = None, **headers: str) -> Raw:
    """An error as providers word it."""
    body = json.dumps({"error": {"message": message, "type": "invalid_request_error", "code": code}})
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Raw(status, body.encode(), {**JSON, **named})


TRANSPORT: dict[str, tuple[Spoiler, str]] = {
    "rate limit": (lambda good: error(429, "Rate limit reached", "rate_limit_exceeded"), "rate_limited"),
    "rate limit with seconds": (lambda good: error(429, "Slow down", Retry_After="7"), "rate_limited"),
    "rate limit with a date": (
        lambda good: error(429, "Slow down", Retry_After=formatdate(time.time() + 9, usegmt=True)), "rate_limited",
    ),
    "internal error": (lambda good: error(500, "The server had an error"), "server_error"),
    "overloaded": (lambda good: Raw(503, b"<html>busy</html>", {"Content-Type": "text/html"}), "server_error"),
    "conflict": (lambda good: error(409, "Conflict"), "server_error"),
    "request timeout": (lambda good: error(408, "Timed out"), "timeout"),
    "hang": (lambda good: Hang(), "timeout"),
    "connection cut at once": (lambda good: Raw(200, b"{}", cut_after=0), "connection"),
    "connection cut in the answer": (lambda good: Said(json.dumps(good), cut=True), "connection"),
    "answer left unfinished": (lambda good: Said(json.dumps(good), unfinished=True), "connection"),
    "a web page": (
        lambda good: Raw(200, b"<html>Welcome</html>", {"Content-Type": "text/html"}), "server_error",
    ),
    "an error as a success": (
        lambda good: Raw(200, b'{"error": {"message": "Upstream failed", "code": 502}}', JSON), "server_error",
    ),
}  # fmt: skip
"""Sent again: the next try may be answered."""

FINAL: dict[str, tuple[Spoiler, str]] = {
    "bad request": (lambda good: error(400, "Unknown field"), "bad_request"),
    "wrong key": (lambda good: error(401, "Incorrect API key"), "authentication"),
    "forbidden": (lambda good: error(403, "Not for this key"), "authentication"),
    "no such model": (lambda good: error(404, "The model does not exist", "model_not_found"), "bad_request"),
    "prompt too long": (
        lambda good: error(400, "This model's maximum context length is 8192 tokens", "context_length_exceeded"),
        "context_too_long",
    ),
    "rate limit until 2100": (
        lambda good: error(429, "Come back later", Retry_After="Fri, 01 Jan 2100 00:00:00 GMT"),
        "rate_limited",
    ),
    "no money": (lambda good: error(429, "You exceeded your current quota", "insufficient_quota"), "rate_limited"),
    "wrong model": (lambda good: Said(json.dumps(good), model="somebody-else-9b"), "wrong_model"),
}
"""Never sent again."""

PROTOCOL: dict[str, tuple[Spoiler, str]] = {
    "no choice": (lambda good: Said(choices=False), "empty"),
    "no text": (lambda good: Said(""), "empty"),
    "blank text": (lambda good: Said(" \n"), "empty"),
    "refusal": (lambda good: Said(None, refusal="I cannot help with that."), "refused"),
    "content filter": (lambda good: Said("I can", finish="content_filter"), "refused"),
    "cut at the limit of tokens": (lambda good: Said(json.dumps(good)[:-9], finish="length"), "truncated"),
}
"""An answer that is of no use whatever was asked."""


def criteria(reply: Good) -> dict[str, Any]:
    """The mapping in a reply that holds one entry per criterion, by the criterion's name; else the reply itself."""
    inner = reply.get("verdicts")
    if isinstance(inner, dict):
        return inner
    nested = [value for value in reply.values() if isinstance(value, dict) and value]
    return next((value for value in nested if all(isinstance(v, dict) for v in value.values())), reply)


def changed(change: Callable[[dict[str, Any], str], None]) -> Spoiler:
    """The good reply with its criteria changed; the change gets their mapping and the first name."""

    def spoil(good: Good) -> str:
        reply = copy.deepcopy(good)
        found = criteria(reply)
        change(found, next(iter(found)))
        return json.dumps(reply)

    return spoil


def put_level(level: Any) -> Spoiler:
    """The good reply with another level for its first criterion."""

    def change(found: dict[str, Any], name: str) -> None:
        if isinstance(found[name], dict):
            found[name]["level"] = level
        else:
            found[name] = level

    return changed(change)


def repeated(good: Good) -> str:
    """The first criterion stands there twice, and the second time with an empty value."""
    name = next(iter(criteria(good)))
    return json.dumps(good).replace(f"{json.dumps(name)}: ", f"{json.dumps(name)}: {{}}, {json.dumps(name)}: ", 1)


CONTENT: dict[str, Spoiler] = {
    "truncated JSON": lambda good: json.dumps(good)[: len(json.dumps(good)) * 2 // 3],
    "JSON in prose": lambda good: f"Here are my verdicts: {json.dumps(good)} I hope that they help.",
    "two objects": lambda good: f"{json.dumps(good)}\n{json.dumps(good)}",
    "echoed example": lambda good: f'Example: {{"verdicts": {{}}}}\nAnswer: {json.dumps(good)}',
    "a list": lambda good: json.dumps([good]),
    "null": lambda good: "null",
    "extra criterion": changed(lambda found, name: found.update({"another_criterion": found[name]})),
    "missing criterion": changed(lambda found, name: found.pop(name)),
    "misspelt criterion": changed(lambda found, name: found.update({f"{name} ": found.pop(name)})),
    "repeated criterion": repeated,
    "level off the scale": put_level("mostly met"),
    "number as a level": put_level(7.5),
    "number as text": put_level("1"),
    "false as text": put_level("false"),
    "boolean as a level": put_level(False),
    "NaN": put_level(float("nan")),
    "no level": put_level(None),
    "200 KB of rambling": lambda good: "Let me think about this step by step. " * 5400,
}
"""Text that came whole and that no strict reader may accept."""


def fenced(good: Good) -> str:
    """A good reply in a fence of code: a reader may accept it, for nothing but the fence stands around it."""
    return f"```json\n{json.dumps(good)}\n```"


CALLS: dict[str, Spoiler] = {
    "arguments cut": lambda good: Said(calls=(("submit", json.dumps(good)[:-3]),)),
    "arguments no JSON": lambda good: Said(calls=(("submit", "reason=good"),)),
    "arguments a list": lambda good: Said(calls=(("submit", [good]),)),
    "arguments empty": lambda good: Said(calls=(("submit", ""),)),
    "arguments twice encoded": lambda good: Said(calls=(("submit", json.dumps(json.dumps(good))),)),
    "unknown tool": lambda good: Said(calls=(("no_such_tool", good),)),
    "no name": lambda good: Said(calls=(("", good),)),
    "no call": lambda good: Said("I would now submit."),
}
"""Turns of a conversation whose calls cannot be carried out; the good arguments come in, the tool is `submit`."""


def in_turn(good: Callable[[dict[str, Any]], Good], spoilers: Iterable[Spoiler | None]) -> Script:
    """A script that answers request after request as listed (null: as it should), and well when the list is over."""
    left = iter(spoilers)

    def script(body: dict[str, Any]) -> Any:
        spoiler, reply = next(left, None), good(body)
        return reply if spoiler is None else spoiler(reply)

    return script
