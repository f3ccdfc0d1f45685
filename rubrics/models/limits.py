"""How fast and how many at once: a bucket per rate, and a number of requests under way that adapts."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rubrics.models.clock import Clock

BURST = 0.1
"""Share of a minute's allowance that may go at once; the rest is spread, so that no 60 s hold more than the rate."""
SHRINK = 0.8
LEAST = 1.0
ROW = 4
"""Refusals with no answer between them after which all wait. Where one request in twenty is refused by chance, four in
a row come once in 160,000; where the endpoint refuses everything, they come at once."""


class Bucket:
    """A rate per minute. What is taken may not be there yet and is waited for: whoever asks first goes first."""

    def __init__(self, per_minute: float, now: float) -> None:
        self.most = max(1.0, per_minute * BURST)
        self.per_second = (per_minute - self.most if per_minute > self.most else per_minute) / 60.0
        self._level, self._at = self.most, now

    def take(self, amount: float, now: float) -> float:
        """Take an amount; seconds to wait until it is there. More than a bucket holds only waits longer."""
        self._level = min(self.most, self._level + (now - self._at) * self.per_second) - amount
        self._at = now
        return max(0.0, -self._level / self.per_second)

    def give(self, amount: float) -> None:
        """Give back what was taken too much, or take (negative) what was too little."""
        self._level += amount


class Width:
    """Most requests under way: shrinks on a rate limit, once for all that were under way, and grows back slowly."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.value = float(most)
        self._shrunk = float("-inf")

    def rate_limited(self, began: float, now: float) -> None:
        """A request that began then was refused for its rate."""
        if began > self._shrunk:
            self.value, self._shrunk = max(LEAST, self.value * SHRINK), now

    def succeeded(self) -> None:
        """One more for each full round of answers."""
        self.value = min(float(self.most), self.value + 1.0 / self.value)


class Gate:
    """Lets requests through: as many as the width, in the order of asking, at the rates, none during a pause."""

    def __init__(self, most: int, requests: int | None, tokens: int | None, clock: Clock) -> None:
        self.width, self._clock = Width(most), clock
        self._requests = None if requests is None else Bucket(requests, clock.now())
        self._tokens = None if tokens is None else Bucket(tokens, clock.now())
        self._active = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._until = float("-inf")
        self._row = 0

    @asynccontextmanager
    async def passing(self, tokens: int) -> AsyncIterator[None]:
        """Wait for a place and for the rates, then hold the place. `tokens` is the estimate that is taken."""
        await self._enter()
        try:
            waits = [bucket.take(n, self._clock.now()) for bucket, n in self._buckets(tokens)]
            target = self._clock.now() + max(waits, default=0.0)
            while (left := max(target, self._until) - self._clock.now()) > 0:
                await self._clock.sleep(left)
            yield
        finally:
            self._active -= 1
            self._wake()

    def used(self, estimate: int, really: int) -> None:
        """What was taken as an estimate has turned out."""
        if self._tokens is not None:
            self._tokens.give(estimate - really)

    def answered(self) -> None:
        """A request was answered."""
        self._row = 0
        self.width.succeeded()

    def refused(self, began: float, after: float | None) -> None:
        """A request that began then was refused for its rate; `after`: seconds that the endpoint asked to wait.

        That is first of all its own affair: it alone waits, and fewer go at once. Only when nothing but refusals comes
        does nothing more go through for the time that was asked for.
        """
        now = self._clock.now()
        self._row += 1
        self.width.rate_limited(began, now)
        if after is not None and self._row >= ROW:
            self._until = max(self._until, now + after)

    def _buckets(self, tokens: int) -> list[tuple[Bucket, float]]:
        pairs = ((self._requests, 1.0), (self._tokens, float(tokens)))
        return [(bucket, amount) for bucket, amount in pairs if bucket is not None]

    async def _enter(self) -> None:
        if self._active < int(self.width.value) and not self._waiting:
            self._active += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._active -= 1
            self._wake()
            raise

    def _wake(self) -> None:
        while self._waiting and self._active < int(self.width.value):
            place = self._waiting.popleft()
            if not place.done():
                self._active += 1
                place.set_result(None)
