"""A session over a kept-open shell: what the docker and bubblewrap backends hand out."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection

from rubrics.environments.kept_shell import Broken, KeptShell, Ran, quoted
from rubrics.environments.session import CommandResult, Limits
from rubrics.errors import InfraError

ABSENT = 66
READ_LIMIT = 64 << 20
READ_SECONDS = 120.0


class ShellSession:
    """One open environment.

    `why_broken` names the limit that ended the shell or raises what broke it; `oom_kills` counts processes that
    the memory limit killed; `check_disk` raises `InfraError` when the disk is full; `closer` removes everything.
    """

    def __init__(
        self,
        shell: KeptShell,
        workdir: str,
        limits: Limits,
        *,
        why_broken: Callable[[Broken], str],
        oom_kills: Callable[[], int],
        check_disk: Callable[[], None],
        closer: Callable[[bool], None],
        image_digest: str | None = None,
        saver: Callable[[str, Collection[str]], str] | None = None,
    ) -> None:
        self.rung = ""
        self.image_digest = image_digest
        self.workdir = workdir
        self._shell: KeptShell | None = shell
        self._limits = limits
        self._why_broken = why_broken
        self._oom_kills = oom_kills
        self._check_disk = check_disk
        self._closer = closer
        self._saver = saver
        self._ended: str | None = None
        self._dirty = False
        self._oom_seen = 0

    def greet(self) -> None:
        """Wait until the shell answers. Raises `InfraError` when it does not."""
        if self._guarded(lambda shell: shell.run(":", READ_SECONDS, 1 << 16, 1 << 20)).exit_code != 0:
            raise InfraError("no_sandbox", "the sandbox's shell does not answer")

    def run(self, command: str, timeout: float) -> CommandResult:
        """See `Session.run`."""
        limits = self._limits
        ran = self._guarded(lambda shell: shell.run(self._line(command), timeout, limits.output, limits.drain))
        limit = ran.limit
        if ran.exit_code != 0:
            self._check_disk()
            if limit is None and self._ended is None and self._memory_ran_out():
                limit = "memory"
        self._dirty = self._dirty or limit is not None
        text = ran.output.decode("utf-8", "replace")
        return CommandResult(ran.exit_code, text, ran.truncated, ran.seconds, limit == "time", limit)

    def read(self, path: str) -> bytes:
        """See `Session.read`. Raises `InfraError` for a file above 64 MiB."""
        name = shlex.quote(path)
        line = self._line(f"[ -f {name} ] || exit {ABSENT}; exec cat -- {name}")
        ran = self._guarded(lambda shell: shell.run(line, READ_SECONDS, READ_LIMIT, READ_LIMIT))
        if ran.exit_code == ABSENT:
            raise FileNotFoundError(path)
        if ran.exit_code != 0 or ran.truncated:
            raise InfraError("read", f"{path}: cannot be read whole in the environment (exit code {ran.exit_code})")
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
        ran = self._guarded(lambda shell: shell.put(line, content, READ_SECONDS))
        if ran.exit_code != 0:
            self._dirty = True
            self._check_disk()
            raise InfraError("write", f"{path}: cannot be written in the environment (exit code {ran.exit_code})")

    def close(self) -> None:
        """See `Session.close`."""
        if self._shell is not None:
            self._shell = None
            self._closer(self._dirty)

    def save(self, owner: str, without: Collection[str] = ()) -> str:
        """Keep the state; see `Saving.save`."""
        if self._saver is None or self._shell is None or self._ended is not None:
            raise InfraError("state", "this environment cannot be kept: it has ended, or shares a container")
        return self._saver(owner, without)

    def _memory_ran_out(self) -> bool:
        before, self._oom_seen = self._oom_seen, self._oom_kills()
        return self._oom_seen > before

    def _line(self, command: str) -> str:
        """Commands are the first to be killed when memory runs out, and leave no core."""
        blocks = self._limits.file_size // 512
        return (
            f"echo 1000 2>/dev/null >/proc/self/oom_score_adj; ulimit -c 0; ulimit -f {blocks}; "
            f"cd {quoted(self.workdir)} && exec sh -c {quoted(command)}"
        )

    def _guarded(self, call: Callable[[KeptShell], Ran]) -> Ran:
        """Call the shell. Once a limit has ended it, every later command ends by the same limit."""
        if self._shell is None:
            raise InfraError("closed", "the environment is closed already")
        if self._ended is None:
            try:
                return call(self._shell)
            except Broken as error:
                self._dirty = True
                self._ended = self._why_broken(error)
        return Ran(None, b"", False, 0.0, self._ended)
