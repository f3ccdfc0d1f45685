"""Where chunks are done on this machine: threads of this process; long stages in several processes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor, wait
from contextlib import suppress
from types import TracebackType

from rubrics.stages.processes import Processes
from rubrics.stages.stage import Job
from rubrics.store.chunks import Done

PATIENCE = 0.5
"""Seconds that chunks under way get to notice that the person stopped the run."""


class Stopped(Exception):
    """The run was stopped while the chunk was under way. Nobody waits for what is still at work on it."""


class Pool:
    """Does jobs until its `with` block ends; it then waits for them, unless the block is left by an exception.

    After Ctrl-C chunks under way are not waited for: who has asked for their results is told `Stopped`, and the caller
    has to end the process (`rubrics.cli.main` does).
    """

    def __init__(self, workers: int) -> None:
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="chunk")
        self._processes = Processes(workers)
        self._under_way: dict[Future[Done], Future[Done]] = {}
        """What does a job, and what its result is asked of."""

    def submit(self, job: Job, here: Callable[[], Done]) -> Future[Done]:
        """Do a job in another process where that is worth it, else by calling `here` in a thread."""
        asked: Future[Done] = Future()
        doing = self._processes.submit(job) if self._processes.takes(job) else self._threads.submit(here)
        self._under_way[doing] = asked
        doing.add_done_callback(self._hand_over)
        return asked

    def do(self, job: Job, here: Callable[[], Done]) -> Done:
        """The same, and wait for it."""
        return self.submit(job, here).result()

    def _hand_over(self, doing: Future[Done]) -> None:
        asked = self._under_way.pop(doing)
        with suppress(InvalidStateError):  # it was told `Stopped` before
            if doing.cancelled():
                asked.set_exception(Stopped())
            elif error := doing.exception():
                asked.set_exception(error)
            else:
                asked.set_result(doing.result())

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._threads.shutdown()
            self._processes.end()
            return
        self._processes.kill()
        self._threads.shutdown(wait=isinstance(error, Exception), cancel_futures=True)
        wait(tuple(self._under_way), PATIENCE)
        for asked in tuple(self._under_way.values()):
            with suppress(InvalidStateError):
                asked.set_exception(Stopped())
