"""An event loop in a thread of its own, so that threads and other loops may use what lives on it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Background:
    """Runs from the start until `close`."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Carry out a coroutine from a thread that is not the loop's; its result or error."""
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("run was called on the client's own loop, which would wait for itself; await instead")
        future = self._started(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def here(self, work: Coroutine[Any, Any, T]) -> T:
        """Await a coroutine of this loop from any loop."""
        if asyncio.get_running_loop() is self.loop:
            return await work
        return await asyncio.wrap_future(self._started(work))

    def _started(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        try:
            return asyncio.run_coroutine_threadsafe(work, self.loop)
        except RuntimeError:  # closed: the run was stopped
            work.close()
            raise

    def close(self, last: Callable[[], Awaitable[None]]) -> None:
        """Give up what is under way, carry out what comes last, end the thread."""
        try:
            self.run(_end(last))
        finally:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()
            self.loop.close()


async def _end(last: Callable[[], Awaitable[None]]) -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await last()
    loop = asyncio.get_running_loop()
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


async def all_of(works: Sequence[Callable[[], Awaitable[T]]], limit: int) -> list[T]:
    """The results in order, at most `limit` under way; the first error ends all and is raised."""
    done: list[Any] = [None] * len(works)
    left = iter(enumerate(works))

    async def worker() -> None:
        for index, work in left:
            done[index] = await work()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(limit, len(works))):
                group.create_task(worker())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return done
