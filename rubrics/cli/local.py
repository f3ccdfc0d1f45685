"""The runner of this machine: chunks in threads of this process, long stages in several processes, without a server."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from rubrics.cli.processes import Processes
from rubrics.stages.plans import run_plan
from rubrics.stages.stage import Job
from rubrics.store.chunks import Done

PATIENCE = 1.0
"""Seconds that chunks under way get to notice that the person stopped the run."""


def run_local(flow: str, options: dict[str, Any]) -> dict[str, int]:
    """Run a flow's stages; returns how many rollouts each did.

    After Ctrl-C chunks under way are not waited for: the caller has to end the process (`rubrics.cli.main` does).
    """
    pool = ThreadPoolExecutor(options["workers"], thread_name_prefix="chunk")
    processes = Processes(options["workers"])
    under_way: set[Future[Done]] = set()

    def submit(job: Job, here: Callable[[], Done]) -> Future[Done]:
        future = processes.submit(job) if processes.takes(job) else pool.submit(here)
        under_way.add(future)
        future.add_done_callback(under_way.discard)
        return future

    try:
        done = run_plan(flow, options, submit)
    except KeyboardInterrupt:
        processes.kill()
        pool.shutdown(wait=False, cancel_futures=True)
        wait(tuple(under_way), PATIENCE)
        raise
    except BaseException:
        processes.kill()
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()
    processes.end()
    return done
