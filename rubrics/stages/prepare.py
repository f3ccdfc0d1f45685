"""Prepare: each task's environment is opened, scrubbed, proved clean and kept; one row per task."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from fnmatch import fnmatchcase
from typing import Any

from rubrics import __version__
from rubrics.environments.session import Saving, Session
from rubrics.errors import InfraError, UsageError
from rubrics.preparation.config import Preparation
from rubrics.preparation.findings import Probe, is_late
from rubrics.preparation.loop import PROBES, Prepared, prepare
from rubrics.preparation.place import Copy
from rubrics.records.census import CensusLine
from rubrics.records.tasks import SealedTask, Task
from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk
from rubrics.stages.task_records import task_records
from rubrics.store.chunks import Done, Output
from rubrics.store.commit import StageRun
from rubrics.store.store import Store

ISOLATED = ("docker", "bubblewrap")
"""Backends whose `/` is the environment's own."""


class Prepare:
    """Rows of `environments` of the chosen tasks; those of other tasks stay.

    `reopen` opens a state that was saved: probes that may change what they look at work in such a copy.
    Raises `UsageError` where scrubbing `/` would scrub the host's.
    """

    name = "prepare"
    unit = "tasks"
    reads = ("tasks", "sealed")

    def __init__(
        self,
        store: Store,
        options: Options,
        environment: Saving,
        config: Preparation,
        probes: Sequence[Probe] = PROBES,
        reopen: Callable[[Task, str], Session] | None = None,
    ) -> None:
        if environment.name not in (*ISOLATED, "none") and config.root == "/":
            raise UsageError(f"--env {environment.name}: its root is this machine's; use {' or '.join(ISOLATED)}")
        self._store = store
        self._environment = environment
        self._config = config
        self._probes = probes
        self._reopen = reopen
        self._chunks = [Chunk(task_id, (task_id,), 1) for task_id in _chosen(store, options)]

    def chunks(self) -> Iterable[Chunk]:
        return self._chunks

    def work(self, out: Output, chunk: Chunk) -> int:
        for task_id in chunk.items:
            found = task_records(self._store, [task_id]).get(task_id)
            if found is None:
                _note(out, "no_task", task_id, "no task row: no environment to prepare")
                continue
            task, sealed = found
            out.append("environments", [self._row(task, sealed, out)])
        return 1

    def _row(self, task: Task, sealed: SealedTask | None, out: Output) -> dict[str, Any]:
        common = {
            "task_id": task.task_id, "image": task.image, "backend": self._environment.name,
            "config": json.dumps(self._config.to_dict()), "code_version": __version__,
            "probe_model": next((item.name.partition(":")[2] for item in self._probes if is_late(item)), None),
        }  # fmt: skip
        try:
            with closing(self._environment.open(task, None)) as session:
                prepared = prepare(session, task, sealed, self._config, self._probes, self._copies(task, session))
                image = self._image(session, task, prepared)
                result = {**common, **prepared_columns(prepared), "rung": session.rung, "image": image}
        except InfraError as error:
            _note(out, f"infra_{error.kind}", task.task_id, str(error))
            return {**common, "failure_class": error.kind, "detail": str(error), "clean": None, "notes": []}
        for probe, report in prepared.reports.items():
            if report.startswith("unfinished_"):
                _note(out, report, task.task_id, f"{probe} gave no report: it has not looked; see `notes`")
        if prepared.clean:
            _note(out, "clean", "", "environments in which a full pass finds nothing, and the proof holds")
        else:
            _note(out, "not_clean", task.task_id, "; ".join(f"{item.kind} {item.place}" for item in prepared.open[:5]))
        for why, (files, size) in prepared.left.items():
            _note(out, "not_looked_at", task.task_id, f"{files} files of {size:,} bytes: {why}")
        return result

    def _copies(self, task: Task, session: Session) -> Copy | None:
        """Opens the session's state as it is then; a state that no row names goes with `rubrics clean`."""
        reopen = self._reopen
        if reopen is None:
            return None

        @contextmanager
        def copied(without: Collection[str]) -> Iterator[Session]:
            saved = self._environment.save(session, str(self._store.paths.root), without)
            with closing(reopen(task, saved)) as copy:
                yield copy

        return copied

    def _image(self, session: Session, task: Task, prepared: Prepared) -> str | None:
        """The state that was kept, when it is clean; else the image that the environment was made from."""
        if prepared.clean:
            return self._environment.save(session, str(self._store.paths.root), prepared.unset)
        return session.image_digest or task.image or task.recipe or task.repository

    def finish(self, run: StageRun, done: Sequence[Done]) -> None:
        tasks = [task_id for chunk in self._chunks for task_id in chunk.items]
        if not tasks:
            detail = "the store holds no task that is chosen: give task rows to `rubrics ingest`, or see --tasks"
            run.note(CensusLine(self.name, "run", "no_tasks", "", detail))
        run.carry("environments", "task_id IN (SELECT unnest($tasks))", tasks=tasks)


def _note(out: Output, kind: str, place: str, detail: str) -> None:
    out.note(CensusLine(Prepare.name, "task", kind, place, detail))


def _chosen(store: Store, options: Options) -> list[str]:
    """Tasks of the store, with rollouts or without, and those that rollouts name though they have no row."""
    rows = store.query("SELECT task_id FROM tasks UNION SELECT task_id FROM rollouts ORDER BY task_id").to_pylist()
    return [row["task_id"] for row in rows if fnmatchcase(row["task_id"], options.tasks)][: options.limit]


def prepared_columns(prepared: Prepared) -> dict[str, Any]:
    """The columns of `environments` that preparation gives."""
    rounds = [[finding.to_dict() for finding in found] for found in prepared.rounds]
    proof = json.dumps({**prepared.proof, "not_looked_at": prepared.left})
    return {
        "clean": prepared.clean, "rounds": len(rounds), "findings": len(rounds[0]), "open": len(rounds[-1]),
        "proof": proof, "probes": json.dumps(rounds), "failure_class": None, "detail": None,
        "probe_result": next(iter(prepared.reports.values()), None),
        "notes": [note.encode("utf-8", "backslashreplace").decode() for note in prepared.notes],
    }  # fmt: skip
