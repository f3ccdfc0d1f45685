"""Processes that do jobs: started when a stage turns out to be long, ended with the process that started them."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager

from rubrics.stages.jobs import perform
from rubrics.stages.stage import Job
from rubrics.store.chunks import Done

AFTER = 2.0
"""Seconds for which jobs of a stage are done in threads: a process takes as long to start, and to open the stage."""
_PR_SET_PDEATHSIG = 1


class Processes:
    """A pool that is made when it is first needed."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None
        self._begun: dict[tuple[str, int], float] = {}

    def takes(self, job: Job) -> bool:
        """Whether the job is worth another process: it may be done apart, and its stage turns out to be long."""
        if not job.apart or self._workers < 2:
            return False
        now = time.monotonic()
        return now - self._begun.setdefault((job.stage, job.commit), now) >= AFTER

    def submit(self, job: Job) -> Future[Done]:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._workers, context, _begin, (os.getpid(),))
        with _without_interrupts():  # which processes inherit that are started here
            return self._pool.submit(perform, job)

    def end(self) -> None:
        """Wait until what was submitted is done."""
        if self._pool is not None:
            self._pool.shutdown()

    def kill(self) -> None:
        """End at once; what is under way is lost."""
        if self._pool is not None:
            processes = list((self._pool._processes or {}).values())
            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.kill()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ctrl-C waits: it is the parent's to handle, and a process that starts could only fail by it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(parent: int) -> None:
    """In a new process: the parent's end is the end."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)  # it ended before this was said
