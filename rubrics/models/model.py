"""What authors, judges, rankers and probes see of a model. `client.py` implements it over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from rubrics.records.models import Answer, Reply, Request

T = TypeVar("T")

CUT_OFF = ("rate_limited", "server_error", "timeout", "connection", "authentication", "bad_request", "budget")
"""Kinds of `ModelError` that say nothing of what was asked: a conversation that one of them ended may go on later."""


class Model(Protocol):
    """One model at one endpoint, with its cache, retries, rate limits and budget. Safe to use from many coroutines of
    the client's own loop."""

    name: str
    """As the person named it, for instance `openai/gpt-x`; part of the name of a judge."""

    async def ask(self, request: Request, read: Callable[[Reply], T]) -> Answer[T]:
        """One question with one answer. `read` is the strict reader of replies and raises `UnusableReply`.

        An unusable reply is asked again a bounded number of times; only a reply that `read` accepted is cached.
        Raises `ModelError`.
        """

    async def turn(self, request: Request) -> Reply:
        """One turn of a conversation, on record before it is used: a conversation that was cut off goes on where it
        was. Asked again when the transport fails, and a bounded number of times when the answer is empty, refused or
        cut. Raises `ModelError`."""

    async def forget(self, turns: Sequence[Request]) -> None:
        """The conversation of these turns came to nothing: they are asked anew when it is held again."""

    async def recall(self, key: str) -> str | None:
        """The finished work stored under a key (see `key`); null when there is none."""

    async def remember(self, key: str, value: str) -> None:
        """Store finished work, for instance the verdicts that a conversation came to. Never a failure."""

    def key(self, request: Request, *more: str) -> str:
        """Digest of model, endpoint, sampling and the request, with what else decides the answer (an image's digest).
        The key of `recall` and `remember`."""
