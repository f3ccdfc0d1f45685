"""The client: a `Model` over HTTP with cache, single flight and its own event loop, so that threads may use it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from rubrics.errors import ModelError, UnusableReply, UsageError
from rubrics.models import bodies, stored
from rubrics.models.background import Background, all_of
from rubrics.models.cache import Cache
from rubrics.models.clock import Clock, RealClock
from rubrics.models.counters import Counters
from rubrics.models.endpoint import Endpoint, find_price, open_endpoint
from rubrics.models.names import answers_for
from rubrics.models.sending import Sender
from rubrics.models.settings import ModelSettings
from rubrics.records.models import Answer, Reply, Request

T = TypeVar("T")
Outcome = Reply | ModelError


class Client:
    """One model at one endpoint; see `Model`. May be awaited from any event loop: the work runs on its own."""

    def __init__(self, settings: ModelSettings, endpoint: Endpoint, cache: Cache | None, clock: Clock) -> None:
        self.settings = settings
        self.name = settings.model
        self._cache = cache
        self._sender = Sender(settings, endpoint, cache, clock)
        self._flights: dict[str, asyncio.Future[Outcome]] = {}
        self._background = Background("model-client")

    @property
    def counters(self) -> Counters:
        """What was sent, saved, retried, refused and spent so far."""
        return self._sender.counters

    def key(self, request: Request, *more: str) -> str:
        return bodies.key(request, self.settings, more)

    async def ask(self, request: Request, read: Callable[[Reply], T]) -> Answer[T]:
        return await self._background.here(self._ask(request, read))

    async def turn(self, request: Request) -> Reply:
        return (await self._background.here(self._ask(request, lambda reply: reply))).reply

    async def forget(self, turns: Sequence[Request]) -> None:
        if self._cache is not None and turns:
            await asyncio.wrap_future(self._cache.drop_replies([self.key(request) for request in turns]))

    async def recall(self, key: str) -> str | None:
        return None if self._cache is None else self._cache.finished(key)

    async def remember(self, key: str, value: str) -> None:
        if self._cache is not None:
            await asyncio.wrap_future(self._cache.put_finished(key, value))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Carry out a coroutine on the client's loop, from a thread that is not the loop's; its result or error."""
        return self._background.run(work)

    def run_all(self, works: Iterable[Callable[[], Awaitable[T]]], limit: int | None = None) -> list[T]:
        """Carry out many, at most `limit` at once (default: twice the concurrency, so that none of it lies idle), in
        their order; the first error ends all."""
        return self.run(all_of(list(works), limit or 2 * self.settings.concurrency))

    async def _ask(self, request: Request, read: Callable[[Reply], T]) -> Answer[T]:
        key = self.key(request)
        kept = self._kept(key)
        while kept is None and (flight := self._flights.get(key)) is not None:
            await asyncio.wait([flight])
            if not flight.cancelled():
                outcome = flight.result()
                if isinstance(outcome, ModelError):
                    raise ModelError(outcome.kind, str(outcome))
                kept = replace(outcome, from_cache=True)
        if kept is None:
            return await self._fly(key, request, read)
        try:
            value = read(kept)
        except UnusableReply:
            return await self._fly(key, request, read)
        self.counters.from_cache += 1
        return Answer(value, kept, 0)

    async def _fly(self, key: str, request: Request, read: Callable[[Reply], T]) -> Answer[T]:
        """Send the question; whoever asks the same meanwhile gets the same outcome. The reply is on record before
        anybody gets it."""
        if self._cache is not None:
            self._cache.check()
        flight: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._flights[key] = flight
        try:
            answer = await self._until_usable(request, read)
            if self._cache is not None:
                await asyncio.wrap_future(self._cache.put_reply(key, stored.to_bytes(answer.reply)))
            flight.set_result(answer.reply)
            return answer
        except ModelError as error:
            flight.set_result(error)
            raise
        finally:
            flight.cancel()
            if self._flights.get(key) is flight:
                del self._flights[key]

    async def _until_usable(self, request: Request, read: Callable[[Reply], T]) -> Answer[T]:
        calls = 0
        refusal = UnusableReply("empty", "nothing was asked")
        for _ in range(self.settings.asks):
            reply, complaint, sent = await self._sent(request)
            calls += sent
            try:
                if complaint is not None:
                    raise complaint
                return Answer(read(reply), reply, calls)
            except UnusableReply as error:
                self.counters.unusable[error.kind] += 1
                refusal = error
        self.counters.failed[refusal.kind] += 1
        raise ModelError(refusal.kind, f"{refusal} (asked {self.settings.asks} times)", calls)

    async def _sent(self, request: Request) -> tuple[Reply, UnusableReply | None, int]:
        try:
            return await self._sender.send(request)
        except ModelError as error:
            self.counters.failed[error.kind] += 1
            raise

    def _kept(self, key: str) -> Reply | None:
        """The stored reply, if it came from a model that may answer by the settings of now."""
        data = None if self._cache is None else self._cache.reply(key)
        reply = None if data is None else stored.from_bytes(data)
        may = reply is not None and answers_for(self.settings.model, reply.model, self.settings.answers_as)
        return reply if may else None

    def close(self) -> None:
        """End what is under way, close connections, write what is pending."""
        try:
            self._background.close(self._sender.endpoint.close)
        finally:
            if self._cache is not None:
                self._cache.close()


@contextmanager
def open_client(settings: ModelSettings, cache: Path | None = None, clock: Clock | None = None) -> Iterator[Client]:
    """A client, closed at the end. Without a cache nothing is kept.

    Raises `UsageError` for a key that is missing and for a budget without a price; `StoreError` for a cache that
    cannot be used.
    """
    endpoint = open_endpoint(settings)
    if settings.max_cost is not None and find_price(settings) is None:
        raise UsageError(f"no price is known for {settings.model!r}, so --max-cost cannot be kept; give its price")
    opened = None if cache is None else Cache(cache)
    client = Client(settings, endpoint, opened, clock or RealClock())
    try:
        yield client
    finally:
        client.close()
