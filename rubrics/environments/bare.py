"""The bare backend: a copy of the repository and plain processes. For data that the user says is trusted, only.

Nothing is isolated: a command can read the user's files and the network. Its process group is killed at the time
limit; what leaves the group is not.
"""

from __future__ import annotations

import os
import resource
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from rubrics.environments.images import Images
from rubrics.environments.inside import too_large
from rubrics.environments.ladder import climb
from rubrics.environments.output import KeptOutput
from rubrics.environments.recipes import HOST, PATH, Places, Recipe, Start
from rubrics.environments.session import READ_LIMIT, CommandResult, Limits, Session
from rubrics.environments.state import State, remove_tree, sweep
from rubrics.errors import AttemptError, InfraError
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Task


class Bare:
    """Environments that are folders. Sweeps what killed runs left when it starts."""

    name = "bare"

    def __init__(self, places: Places, limits: Limits, state: State) -> None:
        sweep(state.root)
        self._limits = limits
        self._state = state
        self._images = Images(state, places)

    def open(self, task: Task, rollout: Rollout | None, *, saved: str | None = None) -> Session:
        """See `Environment.open`. Only a repository can be opened: there is no image without a sandbox."""
        plain = rollout if rollout is None else replace(rollout, snapshot=None)
        return climb(task, plain, None, lambda start: self._begin(start, task.base_commit))

    def save(self, session: Session, owner: str, without: Collection[str] = ()) -> str:
        """See `Saving.save`: a bare process keeps nothing."""
        raise InfraError("state", "a bare process keeps no states; use --env docker or --env bubblewrap")

    def stands(self, saved: str, task: Task) -> bool:
        """See `Backend.stands`."""
        return False

    def _begin(self, start: Start, base_commit: str | None) -> BareSession:
        self._state.check_disk(self._limits.free_disk)
        if (
            not isinstance(start.source, Recipe)
            or start.source.repository is None
            or start.source.base not in (None, HOST)
        ):
            raise InfraError("no_image", "a bare process has no images; use --env docker or --env bubblewrap")
        layer = self._images.repository_layer(start.source, "/work", base_commit)
        folder = self._state.new_folder()
        assert layer is not None
        shutil.copytree(layer / "work", folder / "work", symlinks=True)
        return BareSession(folder, start.source.env, self._limits)

    def close(self) -> None:
        """See `Environment.close`."""
        self._state.close()


class BareSession:
    """A folder of its own and processes in it. `/tmp/...` paths are the machine's."""

    def __init__(self, folder: Path, env: dict[str, str], limits: Limits) -> None:
        self.rung = ""
        self.attempt = False
        self.image_digest: str | None = None
        self._folder = folder
        self._work = folder / "work"
        self._limits = limits
        self._env = {"PATH": os.environ.get("PATH", PATH), "HOME": str(folder), "LANG": "C.UTF-8", **env}

    def run(self, command: str, timeout: float) -> CommandResult:
        """See `Session.run`."""
        started = time.monotonic()
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        with subprocess.Popen(
            ["/bin/sh", "-c", command], cwd=self._work, env=self._env, stdin=null, stdout=pipe,
            stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=self._limited,
        ) as process:  # fmt: skip
            output = KeptOutput(self._limits.output)
            limit = self._follow(process, output, started + timeout)
            _kill_group(process.pid)
        text = output.bytes().decode("utf-8", "replace")
        code = None if limit else process.returncode
        code = 128 - code if code is not None and code < 0 else code
        return CommandResult(code, text, output.truncated, time.monotonic() - started, limit == "time", limit)

    def _follow(self, process: subprocess.Popen[bytes], output: KeptOutput, deadline: float) -> str | None:
        """Read until the command has ended; returns the limit that was hit first, if one was."""
        assert process.stdout is not None
        poll = select.poll()
        poll.register(process.stdout, select.POLLIN)
        while process.poll() is None or poll.poll(0):
            if time.monotonic() > deadline or output.total > self._limits.drain:
                return "time" if output.total <= self._limits.drain else "output"
            if poll.poll(20):
                data = os.read(process.stdout.fileno(), 1 << 16)
                if not data:
                    poll.unregister(process.stdout)
                output.add(data)
        return None

    def _limited(self) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (self._limits.memory, self._limits.memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (self._limits.file_size, self._limits.file_size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def read(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """See `Session.read`."""
        place = self._work / path
        if "\0" in path or not place.is_file():
            raise FileNotFoundError(path)
        with open(place, "rb") as stream:
            data = stream.read(limit + 1)
        if len(data) > limit:
            raise too_large(path, limit)
        return data

    def write(self, path: str, content: bytes) -> None:
        """See `Session.write`."""
        place = self._work / path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(missing_ok=True)
            place.write_bytes(content)
        except OSError as error:
            message = f"{path}: {error.strerror}"
            if error.errno == 28:
                raise InfraError("disk_full", message) from None
            raise AttemptError("write", message) if self.attempt else InfraError("write", message) from None

    def close(self) -> None:
        """See `Session.close`."""
        remove_tree(self._folder)


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
