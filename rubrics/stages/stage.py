"""What a stage is, and how one is driven: chunk by chunk, all or nothing.

The flows hand in how a chunk is run (a Prefect task); this module knows nothing of Prefect.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any, Protocol

from rubrics.records.census import CensusLine
from rubrics.store.store import StageRun, Store

log = logging.getLogger("rubrics")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of work: what it is of, and how many rollouts that is."""

    label: str
    items: tuple[Any, ...]
    rollouts: int


class Stage(Protocol):
    """One stage over one store."""

    name: str

    def chunks(self) -> Iterable[Chunk]:
        """The work, cut so that a chunk can be lost and done again."""

    def work(self, run: StageRun, chunk: Chunk) -> int:
        """Do one chunk, writing its rows to `run`; returns how many rollouts were done. Runs in a thread."""

    def finish(self, run: StageRun) -> None:
        """Write what needs all chunks."""


class Future(Protocol):
    def result(self) -> Any: ...


Submit = Callable[[Stage, StageRun, Chunk], Future]


def run_chunk(stage: Stage, run: StageRun, chunk: Chunk) -> int:
    """The body of the task that a flow makes of a chunk."""
    return stage.work(run, chunk)


def drive(stage: Stage, store: Store, submit: Submit, window: int) -> int:
    """Run a stage to its end; returns the number of rollouts done, or of what the stage names as its `unit`.

    At most `window` chunks are under way at once. When a chunk fails, nothing of the stage's run is kept.
    """
    done, unit = 0, getattr(stage, "unit", "rollouts")
    with store.writing(stage.name) as run:
        run.keep("census", "stage <> $stage", stage=stage.name)
        waiting: deque[Future] = deque()
        log.info("%s: started", stage.name)
        for chunk in stage.chunks():
            waiting.append(submit(stage, run, chunk))
            if len(waiting) >= window:
                done += waiting.popleft().result()
                log.info("%s: %d %s done", stage.name, done, unit, extra={"stage": stage.name, "done": done})
        while waiting:
            done += waiting.popleft().result()
        stage.finish(run)
    log.info("%s: finished, %d %s", stage.name, done, unit, extra={"stage": stage.name, "done": done})
    return done


def census_rows(lines: Iterable[CensusLine]) -> Iterator[dict[str, Any]]:
    """Rows of the census table; lines that agree in everything but the count are added up."""
    totals: dict[tuple[str, ...], int] = {}
    for line in lines:
        key = (line.stage, line.subject, line.kind, line.place, line.detail)
        totals[key] = totals.get(key, 0) + line.count
    for (stage, subject, kind, place, detail), count in totals.items():
        yield {"stage": stage, "subject": subject, "kind": kind, "place": place, "detail": detail, "count": count}


def record_row(record: Any) -> dict[str, Any]:
    """A record's fields as a row; tuples become lists."""
    values = ((field.name, getattr(record, field.name)) for field in fields(record))
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values}


@dataclass(frozen=True, slots=True)
class _Done:
    value: int

    def result(self) -> int:
        return self.value


def run_here(stage: Stage, run: StageRun, chunk: Chunk) -> Future:
    """A `Submit` without an orchestrator: the chunk is done at once, in this thread."""
    return _Done(run_chunk(stage, run, chunk))
