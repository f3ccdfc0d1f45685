"""What the tests of the hack agent and the audit judge share: a client to a scripted server, a script of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from model_server.server import ModelServer, Said, Script, serving

from rubrics.models.client import Client, open_client
from rubrics.models.settings import ModelSettings

MODEL = "tester"
Step = tuple[str, Any] | Callable[[list[dict[str, Any]]], tuple[str, Any]]
"""A call: name and arguments; or what makes one of the messages so far."""


@contextmanager
def asked(script: Script, cache: Path | None = None) -> Iterator[tuple[Client, ModelServer]]:
    """A client whose model is the script."""
    with serving(script) as server:
        settings = ModelSettings(MODEL, base_url=server.url, timeout=60.0, attempts=1)
        with open_client(settings, cache) as client:
            yield client, server


def calls(*conversations: Sequence[Step]) -> Script:
    """Makes these calls, one a turn; each further conversation makes the next list's, the last list's for ever."""
    begun: list[str] = []

    def script(body: dict[str, Any]) -> Said:
        messages = body["messages"]
        turn = sum(message["role"] == "assistant" for message in messages)
        if turn == 0:
            begun.append("")
        steps = conversations[min(len(begun), len(conversations)) - 1]
        step = steps[min(turn, len(steps) - 1)]
        return Said(calls=(step(messages) if callable(step) else step,))

    return script


def prompts(server: ModelServer) -> str:
    """All that was ever sent."""
    return "\n".join(str(message.get("content") or "") for body in server.requests for message in body["messages"])
