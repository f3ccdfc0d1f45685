"""A clock for clients under test: waiting takes no time and is remembered."""

from __future__ import annotations

import asyncio


class StepClock:
    """Time moves only by sleeping. Give it to `open_client(settings, cache, clock)`."""

    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        until = self.time + seconds
        await asyncio.sleep(0)
        self.time = max(self.time, until)
