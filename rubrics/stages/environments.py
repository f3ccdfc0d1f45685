"""The environments of a stage: one backend, chosen by the options, whose state for a task is the prepared one."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rubrics.environments.choose import choose
from rubrics.environments.recipes import Places
from rubrics.environments.session import Environment, Limits, Session
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

    It is an `Environment`, so what takes one takes an opener.
    """

    def __init__(self, options: Options, store: Store, limits: Limits = DEFAULTS, root: Path | None = None) -> None:
        places = Places(tuple(Path(folder) for folder in options.data))
        self._environment: Environment | None = None
        self.error: InfraError | None = None
        """What keeps every environment from being opened."""
        try:
            self._environment, self.said = choose(
                options.env, places, limits, mode=options.env_mode, trusted=options.trusted, root=root
            )
        except InfraError as error:
            self.error, self.said = error, f"none: {error}"
        self.name = self._environment.name if self._environment else "none"
        log.log(logging.WARNING if self.error else logging.INFO, "environment: %s", self.said)

    def open(self, task: Task, rollout: Rollout | None = None) -> Session:
        """The state of a rollout, of the task's start when null. Raises `InfraError`."""
        if self._environment is None:
            assert self.error is not None
            raise InfraError(self.error.kind, str(self.error))
        return self._environment.open(task, rollout)

    __call__ = open

    def census(self, stage: str) -> list[CensusLine]:
        """Which backend it was, and why."""
        return [CensusLine(stage, "run", "environment", "", self.said)]

    def close(self) -> None:
        """See `Environment.close`."""
        if self._environment is not None:
            self._environment.close()


@contextmanager
def open_environment(
    options: Options, store: Store, limits: Limits = DEFAULTS, root: Path | None = None
) -> Iterator[Opener]:
    """What opens the environments of a stage; closed at the end.

    Raises `UsageError` for a backend that may not be used, never `InfraError`: that is each opening's.
    """
    opener = Opener(options, store, limits, root)
    try:
        yield opener
    finally:
        opener.close()
