"""The environments of a stage: one backend, chosen by the options, whose state for a task is the prepared one."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rubrics.environments.choose import choose
from rubrics.environments.recipes import Places
from rubrics.environments.session import Backend, Limits, Session
from rubrics.errors import InfraError
from rubrics.records.census import CensusLine
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Task
from rubrics.stages.options import Options
from rubrics.store.store import Store

log = logging.getLogger("rubrics")
DEFAULTS = Limits()


class Opener:
    """Opens environments; for several threads. Where no backend can be had, every opening raises what keeps it away.

    A task that the store says was prepared clean with this backend is entered in that state; with `prepared` false
    none is. It is an `Environment`, so what takes one takes an opener.
    """

    def __init__(
        self,
        options: Options,
        store: Store,
        limits: Limits = DEFAULTS,
        root: Path | None = None,
        *,
        prepared: bool = True,
    ) -> None:
        places = Places(tuple(Path(folder) for folder in options.data))
        self.backend: Backend | None = None
        self.error: InfraError | None = None
        """What keeps every environment from being opened."""
        try:
            self.backend, self.said = choose(
                options.env, places, limits, mode=options.env_mode, trusted=options.trusted, root=root
            )
        except InfraError as error:
            self.error, self.said = error, f"none: {error}"
        self.name = self.backend.name if self.backend else "none"
        where = "clean AND backend = $name" if prepared else "false AND backend = $name"
        rows = store.rows("environments", ["task_id", "image"], where=where, name=self.name)
        self._saved: dict[str, str | None] = {row["task_id"]: row["image"] for row in rows}
        self._checked: set[str] = set()
        self._entered: dict[str, set[str]] = {}
        self._lock = threading.Lock()
        log.log(logging.WARNING if self.error else logging.INFO, "environment: %s", self.said)

    def open(self, task: Task, rollout: Rollout | None = None) -> Session:
        """The state of a rollout, of the task's start when null. Raises `InfraError`."""
        backend = self._started()
        session = backend.open(task, rollout, saved=self._prepared(backend, task))
        if rollout is not None:
            self.entered(session.rung, [rollout.rollout_id])
        return session

    __call__ = open

    def original(self, task: Task) -> Session | None:
        """The task's start as it was before it was prepared; null where `open` enters that. Raises `InfraError`."""
        backend = self._started()
        return None if self._prepared(backend, task) is None else backend.open(task, None)

    def saved(self, task: Task) -> str | None:
        """Name of the prepared state that `open` enters; null where it enters the original one."""
        return None if self.backend is None else self._prepared(self.backend, task)

    def reopen(self, task: Task, saved: str) -> Session:
        """A state that was saved. Raises `InfraError`."""
        return self._started().open(task, None, saved=saved)

    def save(self, session: Session, owner: str, without: Collection[str] = ()) -> str:
        """See `Saving.save`."""
        return self._started().save(session, owner, without)

    def entered(self, rung: str, rollout_ids: Iterable[str]) -> None:
        """Count rollouts whose state was entered on a rung, for the census."""
        with self._lock:
            self._entered.setdefault(rung.partition("+")[0], set()).update(rollout_ids)

    def entered_of(self, rollout_ids: Collection[str]) -> dict[str, int]:
        """How many of these rollouts were entered, by rung."""
        with self._lock:
            found = {rung: len(ids.intersection(rollout_ids)) for rung, ids in self._entered.items()}
        return {rung: count for rung, count in found.items() if count}

    def census(self, stage: str, entered: Iterable[Mapping[str, int]]) -> list[CensusLine]:
        """Which backend it was, and how many rollouts were entered in states that no preparation proved clean, of what
        `entered_of` said of chunks."""
        counts: Counter[str] = Counter()
        for found in entered:
            counts.update(found)
        own, clean = counts.pop("snapshot", 0), counts.pop("prepared", 0)
        bare = sum(counts.values())
        lines = [CensusLine(stage, "run", "environment", "", self.said)]
        for kind, count, detail in (
            ("prepared", clean, "rollouts in environments that were prepared clean"),
            ("unprepared", bare, "rollouts in environments that were not prepared: run `rubrics prepare` before"),
            ("own_snapshot", own, "rollouts in snapshots of their own, which are entered as they are"),
        ):
            lines += [CensusLine(stage, "run", kind, "", detail, count)] if count else []
        return lines

    def close(self) -> None:
        """See `Environment.close`."""
        if self.backend is not None:
            self.backend.close()

    def _started(self) -> Backend:
        if self.backend is None:
            assert self.error is not None
            raise InfraError(self.error.kind, str(self.error))
        return self.backend

    def _prepared(self, backend: Backend, task: Task) -> str | None:
        """The task's saved state, if it has one that still stands."""
        with self._lock:
            saved = self._saved.get(task.task_id)
            if saved is not None and task.task_id not in self._checked:
                if not backend.stands(saved, task):
                    log.warning("%s: its prepared state is gone, or the task has changed since", task.task_id)
                    saved = self._saved[task.task_id] = None
                self._checked.add(task.task_id)
            return saved


@contextmanager
def open_environment(
    options: Options, store: Store, limits: Limits = DEFAULTS, root: Path | None = None, *, prepared: bool = True
) -> Iterator[Opener]:
    """What opens the environments of a stage; closed at the end.

    Raises `UsageError` for a backend that may not be used, never `InfraError`: that is each opening's.
    """
    opener = Opener(options, store, limits, root, prepared=prepared)
    try:
        yield opener
    finally:
        opener.close()
