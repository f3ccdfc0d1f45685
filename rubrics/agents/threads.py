"""Blocking work of a conversation: a thread for each piece, waited for also when the conversation is cancelled."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T], undo: Callable[[T], None] | None = None) -> T:
    """What `work` returns or raises. A thread of its own: commands that take long do not hold up other conversations.

    Cancelled while it runs, it waits for the end of `work` and is cancelled then: two threads never use one session.
    So `work` needs a limit of time of its own. `undo` gets what came of it then: what was opened is not lost.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def finish(value: T | None, error: BaseException | None) -> None:
        if error is None:
            done.set_result(value)  # type: ignore[arg-type]
        else:
            done.set_exception(error)

    def run() -> None:
        value, error = None, None
        try:
            value = work()
        except BaseException as raised:
            error = RuntimeError(repr(raised)) if isinstance(raised, StopIteration) else raised
        loop.call_soon_threadsafe(finish, value, error)

    threading.Thread(target=run, daemon=True).start()
    cancelled: list[asyncio.CancelledError] = []
    while not done.done():
        try:
            await asyncio.wait((done,))
        except asyncio.CancelledError as error:
            cancelled.append(error)
    if cancelled:
        if done.exception() is None and undo is not None:
            made = done.result()
            await in_thread(lambda: undo(made))
        raise cancelled[0]
    return done.result()
