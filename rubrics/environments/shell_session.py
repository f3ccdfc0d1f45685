"""A session over a kept-open shell: what the docker and bubblewrap backends hand out."""

from __future__ import annotations

import errno
import logging
import shlex
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rubrics.environments.inside import read_inside, too_large
from rubrics.environments.kept_shell import Broken, KeptShell, Ran, Silent, quoted
from rubrics.environments.session import READ_LIMIT, CommandResult, Limits
from rubrics.errors import AttemptError, InfraError

ABSENT = 66
READ_SECONDS = 120.0
OWN_EXITS = frozenset((*range(1, 128), *(128 + signal for signal in (4, 6, 7, 8, 11))))
"""How a shell ends by itself. From outside it ends by other signals, or with 0 when its input ends."""
T = TypeVar("T")
log = logging.getLogger("rubrics")


@dataclass(frozen=True, slots=True)
class Around:
    """What a backend knows of a sandbox from outside. None of it runs a program of the sandbox."""

    why_broken: Callable[[Broken, bool], str]
    """The limit that ended the shell, where it had answered before. Raises `InfraError` where it was no doing of what
    ran there."""
    oom_kills: Callable[[], int]
    """Processes that the memory limit killed so far."""
    used_up: Callable[[], str | None]
    """The limit of disk that it hit, if it has; called while a command runs."""
    check_disk: Callable[[], None]
    """Raises `InfraError` when the machine's disk is full."""
    root: Callable[[], Path | None]
    """Where its files can be read from outside; null where they cannot."""
    close: Callable[[bool], None]
    """Remove everything; true says that it may not be used again."""
    save: Callable[[str, Collection[str]], str] | None = None
    """Keep the state for an owner; returns the name."""


class ShellSession:
    """One open environment."""

    def __init__(
        self, shell: KeptShell, workdir: str, limits: Limits, around: Around, image_digest: str | None = None
    ) -> None:
        self.rung = ""
        self.attempt = False
        self.image_digest = image_digest
        self.workdir = workdir
        self._shell: KeptShell | None = shell
        self._limits = limits
        self._around = around
        self._ended: str | None = None
        self._dirty = False
        self._answered = False
        self._oom_seen = 0

    def greet(self) -> None:
        """Wait until the shell answers. Raises `InfraError` when it does not."""
        code = self._guarded(lambda shell: shell.put(":", b""), None)
        if code != 0:
            why = f"limit {self._ended}" if self._ended else f"exit code {code}"
            raise InfraError("no_sandbox", f"the image's shell does not answer in the sandbox ({why})")

    def run(self, command: str, timeout: float) -> CommandResult:
        """See `Session.run`."""
        limits, watch = self._limits, self._around.used_up
        line = self._line(command)
        ran = self._guarded(lambda shell: shell.run(line, timeout, limits.output, limits.drain, watch), _NOTHING)
        limit = ran.limit or self._ended
        if limit is None:
            limit = watch()
        if limit is None and ran.exit_code != 0:
            self._around.check_disk()
            limit = self._memory()
        self._dirty = self._dirty or limit is not None
        text = ran.output.decode("utf-8", "replace")
        code = None if limit == "disk" else ran.exit_code
        return CommandResult(code, text, ran.truncated, ran.seconds, limit == "time", limit)

    def read(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """See `Session.read`."""
        place = path if path.startswith("/") else f"{self.workdir}/{path}"
        if "\0" in place:
            raise FileNotFoundError(path)
        if self._shell is None:
            raise InfraError("closed", "the environment is closed already")
        root = self._around.root()
        if root is not None:
            return read_inside(root, place, limit)
        name = shlex.quote(path)
        line = self._line(f"[ -f {name} ] || exit {ABSENT}; exec head -c {limit + 1} -- {name}")
        ran = self._guarded(lambda shell: shell.run(line, READ_SECONDS, limit + 1, 2 * limit + 1), _NOTHING)
        if ran.exit_code == ABSENT:
            raise FileNotFoundError(path)
        if ran.exit_code != 0 or ran.truncated:
            raise OSError(errno.EIO, f"cannot be read (exit code {ran.exit_code}, limit {ran.limit})", path)
        if len(ran.output) > limit:
            raise too_large(path, limit)
        return ran.output

    def write(self, path: str, content: bytes) -> None:
        """See `Session.write`. What stands at `path`, also a link, is replaced."""
        name = quoted(path)
        folder = quoted(path.rpartition("/")[0] or ("/" if path.startswith("/") else "."))
        copy = f"dd bs={len(content)} count=1 iflag=fullblock 2>/dev/null" if content else ":"
        there = f"cd {quoted(self.workdir)}"
        line = (
            f"if ({there} && mkdir -p -- {folder} && rm -rf -- {name} && : > {name}) </dev/null 2>/dev/null; "
            f"then ({there} && {copy} > {name}) 2>/dev/null; else {copy} > /dev/null; false; fi"
        )
        code = self._guarded(lambda shell: shell.put(line, content), None)
        if code != 0:
            self._dirty = True
            self._around.check_disk()
            why = f"exit code {code}" if code is not None else f"limit {self._ended}"
            message = f"{path}: cannot be written in the environment ({why})"
            raise AttemptError("write", message) if self.attempt else InfraError("write", message)

    def close(self) -> None:
        """See `Session.close`. What cannot be removed now is left to the backend's next start."""
        if self._shell is None:
            return
        self._shell = None
        try:
            self._around.close(self._dirty)
        except (InfraError, OSError) as error:
            log.warning("an environment is not wholly removed: %s", error)

    def save(self, owner: str, without: Collection[str] = ()) -> str:
        """Keep the state; see `Saving.save`."""
        if self._around.save is None or self._shell is None or self._ended is not None:
            raise InfraError("state", "this environment cannot be kept: it has ended, or shares a container")
        return self._around.save(owner, without)

    def _memory(self) -> str | None:
        before = self._oom_seen
        self._oom_seen = self._guarded(lambda shell: self._around.oom_kills(), before)
        return "memory" if self._oom_seen > before else self._ended

    def _line(self, command: str) -> str:
        """Commands are the first to be killed when memory runs out, and leave no core."""
        blocks = self._limits.file_size // 512
        return (
            f"echo 1000 2>/dev/null >/proc/self/oom_score_adj; ulimit -c 0; ulimit -f {blocks}; "
            f"cd {quoted(self.workdir)} && run {quoted(command)}"
        )

    def _guarded(self, call: Callable[[KeptShell], T], nothing: T) -> T:
        """Call the shell. Once something has ended it, every later call comes to nothing, by the same limit."""
        if self._shell is None:
            raise InfraError("closed", "the environment is closed already")
        if self._ended is None:
            try:
                found = call(self._shell)
                self._answered = True
                return found
            except Broken as error:
                self._dirty = True
                self._ended = self._around.why_broken(error, self._answered)
            except Silent:
                self._dirty = True
                self._ended = "time"
        return nothing


def answering(session: ShellSession) -> ShellSession:
    """The session, once its shell has answered. Raises `InfraError` when it does not; the session is closed then."""
    try:
        session.greet()
    except BaseException:
        session.close()
        raise
    return session


_NOTHING = Ran(None, b"", False, 0.0, None)
