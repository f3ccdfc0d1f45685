"""Money: what was spent, what is reserved for requests under way, and the cap on both."""

from __future__ import annotations

import asyncio

from rubrics.errors import ModelError


class Budget:
    """One for all workers of a client. `spent` starts with what earlier runs spent; dollars."""

    def __init__(self, cap: float | None, spent: float = 0.0) -> None:
        self.cap = cap
        self.spent = spent
        self.reserved = 0.0
        self._under_way = 0
        self._settled: asyncio.Future[None] | None = None

    async def reserve(self, estimate: float) -> None:
        """Set the estimate aside. Waits while only what is under way stands against it, for it may cost less.

        Raises `ModelError` with kind `budget` when what is spent leaves no room.
        """
        while self.cap is not None and self.spent + self.reserved + estimate > self.cap:
            if not self._under_way or self.spent + estimate > self.cap:
                raise ModelError(
                    "budget",
                    f"${self.spent:.4f} of at most ${self.cap:.4f} are spent, and the next request may cost "
                    f"${estimate:.4f}; raise --max-cost to go on",
                )
            if self._settled is None or self._settled.done():
                self._settled = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._settled)
        self.reserved += estimate
        self._under_way += 1

    def settle(self, estimate: float, spent: float) -> None:
        """A request is over: its reservation ends, and this is what it cost."""
        self._under_way -= 1
        self.reserved = self.reserved - estimate if self._under_way else 0.0
        self.spent += spent
        if self._settled is not None and not self._settled.done():
            self._settled.set_result(None)
