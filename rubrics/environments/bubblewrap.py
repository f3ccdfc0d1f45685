"""The bubblewrap backend: an overlay over the image's folders per rollout, in a sandbox of its own.

Covered: own mount, pid, network, ipc, host name and user namespaces; no network; no capabilities; no new privileges;
a filter of system calls; memory, processes and processors' time by control group (by process limits where none can be
made); nothing left after a kill.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection

from rubrics.environments.images import Images
from rubrics.environments.ladder import climb, start_digest
from rubrics.environments.recipes import HOST, Places, Root, Start
from rubrics.environments.sandbox import Sandbox
from rubrics.environments.saved import kept_of
from rubrics.environments.session import Limits, Session
from rubrics.environments.shell_session import ShellSession, answering
from rubrics.environments.state import State, sweep
from rubrics.errors import InfraError
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Task


class Bubblewrap:
    """Environments in bubblewrap. Sweeps what killed runs left when it starts."""

    name = "bubblewrap"

    def __init__(self, places: Places, limits: Limits, state: State) -> None:
        if shutil.which("bwrap") is None:
            raise InfraError("no_engine", "bubblewrap is not installed; install it, or use --env docker")
        sweep(state.root)
        self._limits = limits
        self._state = state
        self._images = Images(state, places)

    def open(self, task: Task, rollout: Rollout | None, *, saved: str | None = None) -> Session:
        """See `Environment.open`."""
        return climb(task, rollout, saved, lambda start: self._begin(start, task))

    def save(self, session: Session, owner: str, without: Collection[str] = ()) -> str:
        """See `Saving.save`."""
        assert isinstance(session, ShellSession)
        return session.save(owner, without)

    def stands(self, saved: str, task: Task) -> bool:
        """See `Backend.stands`."""
        kept = kept_of(self._state, saved)
        return kept is not None and kept.start == start_digest(task, lambda start: self._root(start, task).digest)

    def _root(self, start: Start, task: Task) -> Root:
        return self._images.root(start, task.base_commit, default_base=HOST)

    def _begin(self, start: Start, task: Task) -> ShellSession:
        self._state.check_disk(self._limits.free_disk)
        root = self._root(start, task)
        folder = self._state.new_folder()
        sandbox = Sandbox(folder, self._state, self._limits)
        try:
            sandbox.start(root)
        except BaseException:
            sandbox.close(False)
            raise
        return answering(sandbox.session(root))

    def close(self) -> None:
        """See `Environment.close`."""
        self._state.close()
