"""What tests of conversations share: a scripted server that says turns one after another, and simple tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_server.server import ModelServer, Said, serving

from rubrics import jsonio
from rubrics.agents.arguments import Arguments, tool
from rubrics.agents.loop import Bounds, Conversation, Handled, converse
from rubrics.errors import UnusableReply
from rubrics.models.client import Client, open_client
from rubrics.models.settings import ModelSettings
from rubrics.records.models import Request, Tool

ECHO = tool("echo", "Says it again.", {"text": "What to say."}, {"times": "integer: How often."})
SUBMIT = Tool("submit", "The answer.", {"type": "object", "properties": {"answer": {"type": "integer"}}})
OPENING = Request(({"role": "system", "content": "Work."}, {"role": "user", "content": "The question."}))


def calls(*made: tuple[str, Any], text: str | None = None, **more: Any) -> Said:
    return Said(text, made, **more)


def answer(value: Any) -> tuple[str, Any]:
    return ("submit", {"answer": value})


def read(text: str) -> int:
    """Accepts a whole number."""
    try:
        value = jsonio.loads(text)["answer"]
    except (ValueError, TypeError, KeyError):
        raise UnusableReply("shape", "an answer is wanted") from None
    if not isinstance(value, int):
        raise UnusableReply("off_scale", f"{value!r} is no whole number")
    return value


def echo(values: Mapping[str, Any]) -> str:
    arguments = Arguments(ECHO, values)
    return arguments.text("text") * (arguments.number("times", 1) or 0)


def one_after_another(turns: Sequence[Any]) -> Callable[[dict[str, Any]], Any]:
    """A script that says these; then the last one for ever."""
    left = iter(turns)
    return lambda body: next(left, turns[-1])


@dataclass
class Talking:
    server: ModelServer
    client: Client

    def talk(
        self, bounds: Bounds | None = None, handlers: Sequence[Handled] = (Handled(ECHO, echo),), **more: Any
    ) -> Conversation[int]:
        return self.client.run(converse(self.client, OPENING, handlers, SUBMIT, read, bounds or Bounds(), **more))

    @property
    def last(self) -> list[dict[str, Any]]:
        """The messages of the last request."""
        messages: list[dict[str, Any]] = self.server.requests[-1]["messages"]
        return messages


@contextmanager
def talking(*turns: Any, script: Any = None, cache: Path | None = None, **settings: Any) -> Iterator[Talking]:
    """A server that says these turns, and a client that asks it, without streaming."""
    settings = {"base_url": "", "asks": 1, "attempts": 1, **settings}
    with serving(script or one_after_another(turns)) as server:
        settings["base_url"] = server.url
        with open_client(ModelSettings("m", **settings), cache) as client:
            yield Talking(server, client)
