"""What a stage is, and how one is driven: chunk by chunk; finished chunks are kept, the commit is whole or is not made.

A runner says where a chunk is done: in this thread, in threads or processes, in tasks of an orchestrator. This module
knows nothing of them.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

from rubrics.errors import UsageError
from rubrics.stages.options import Options
from rubrics.store.chunks import Done, Output, read_record, write_record
from rubrics.store.commit import StageRun
from rubrics.store.store import Store

log = logging.getLogger("rubrics")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of work: what it is of, and how many rollouts that is."""

    label: str
    items: tuple[Any, ...]
    rollouts: int


class Stage(Protocol):
    """One stage over one store.

    A stage may say more of itself: `unit` (what it counts, if not rollouts), `reads` (the tables that decide what a
    chunk comes to; then finished chunks are taken over by a later run), `apart` (its chunks may be done in other
    processes, which open the stage by themselves), `lasting_census` (a condition on lines of its census that stay).
    """

    name: str

    def chunks(self) -> Iterable[Chunk]:
        """The work, cut so that a chunk can be lost and done again."""

    def work(self, out: Output, chunk: Chunk) -> int:
        """Do one chunk, writing its rows to `out`; returns how many rollouts were done. Changes nothing of the stage:
        it may run in a thread or in another process, or not at all where it was done before."""

    def finish(self, run: StageRun, done: Sequence[Done]) -> None:
        """Say what stays of the tables (`run.carry`), and add what needs all chunks. `done`: chunks in their order,
        whose rows and census lines are in `run` already."""


@dataclass(frozen=True, slots=True)
class Job:
    """A chunk to be done, as a value: whoever has the store can do it."""

    stage: str
    options: Options
    commit: int
    """The commit that the stage reads."""
    chunk: Chunk
    key: str
    """Under which the finished chunk is kept; empty: it is not."""
    apart: bool = False
    """Whether another process may do it."""


class Future(Protocol):
    def result(self) -> Done: ...


Submit = Callable[[Job, Callable[[], Done]], Future]
"""A runner: does a job here by the function, or elsewhere by the job (`rubrics.stages.jobs.perform`)."""


def do_chunk(stage: Stage, store: Store, job: Job) -> Done:
    """Do a chunk and keep what came of it."""
    out = Output(store.paths.root)
    done = out.finish(stage.work(out, job.chunk))
    if job.key:
        write_record(store.paths.root, job.stage, job.key, done, job.commit)
    return done


def drive(stage: Stage, store: Store, submit: Submit, window: int, options: Options | None = None) -> int:
    """Run a stage to its end; returns the number of rollouts done, or of what the stage names as its `unit`.

    At most `window` chunks are under way at once. Chunks that an earlier run finished are taken as they are. A chunk
    that fails does not stop the others; then nothing is committed, what is done is kept for the next run, and the first
    failure is raised with a note that names its chunk.
    """
    from rubrics.stages.jobs import job_of

    unit = getattr(stage, "unit", "rollouts")
    with store.writing(stage.name) as run:
        stays, parameters = getattr(stage, "lasting_census", lambda: ("false", {}))()
        run.keep("census", f"stage <> $stage OR ({stays})", stage=stage.name, **parameters)
        log.info("%s: started", stage.name)
        results = _Results(stage.name, unit)
        for chunk in stage.chunks():
            job = job_of(stage, store, options or Options(str(store.paths.root)), chunk)
            kept = read_record(store.paths.root, job.stage, job.key) if job.key else None
            results.add(chunk, kept or submit(job, lambda job=job: do_chunk(stage, store, job)))  # type: ignore[misc]
            if results.waiting >= window:
                results.take()
        done = results.all()
        for item in done:
            run.add(item)
        stage.finish(run, done)
    total = sum(item.rollouts for item in done)
    log.info("%s: finished, %d %s", stage.name, total, unit, extra={"stage": stage.name, "done": total})
    return total


class _Results:
    """What comes of the chunks, in their order."""

    def __init__(self, stage: str, unit: str) -> None:
        self._stage, self._unit = stage, unit
        self._waiting: deque[tuple[Chunk, Future | Done]] = deque()
        self._done: list[Done] = []
        self._failed: list[tuple[str, Exception]] = []
        self._rollouts = 0

    @property
    def waiting(self) -> int:
        return sum(not isinstance(item, Done) for _, item in self._waiting)

    def add(self, chunk: Chunk, item: Future | Done) -> None:
        self._waiting.append((chunk, item))

    def take(self) -> None:
        chunk, item = self._waiting.popleft()
        try:
            done = item if isinstance(item, Done) else item.result()
        except UsageError:
            raise  # what was asked cannot be done: no other chunk can do it either
        except Exception as error:
            log.warning("%s: chunk %s failed: %s", self._stage, chunk.label, error)
            self._failed.append((chunk.label, error))
            return
        self._done.append(done)
        self._rollouts += done.rollouts
        said = {"stage": self._stage, "done": self._rollouts}
        log.info("%s: %d %s done", self._stage, self._rollouts, self._unit, extra=said)

    def all(self) -> list[Done]:
        """Wait for the rest. Raises what the first chunk failed by."""
        while self._waiting:
            self.take()
        if self._failed:
            label, error = self._failed[0]
            others = f" (and {len(self._failed) - 1} more)" if len(self._failed) > 1 else ""
            done = f"{len(self._done)} chunks are finished and kept" if self._done else "no other chunk was done"
            error.add_note(f"stage {self._stage}: chunk {label} failed{others}; {done}; the same command does the rest")
            raise error
        return self._done


def record_row(record: Any) -> dict[str, Any]:
    """A record's fields as a row; tuples become lists."""
    values = ((field.name, getattr(record, field.name)) for field in fields(record))
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values}


@dataclass(frozen=True, slots=True)
class Here:
    """A `Future` that is done in this thread, when its result is asked for."""

    do: Callable[[], Done]

    def result(self) -> Done:
        return self.do()


def run_here(job: Job, here: Callable[[], Done]) -> Future:
    """A `Submit` without an orchestrator: chunk after chunk, in this thread."""
    return Here(here)
