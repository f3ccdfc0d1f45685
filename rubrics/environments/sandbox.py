"""One running bubblewrap sandbox: its overlay, its control group, its process."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path

from rubrics.environments import mounts
from rubrics.environments.cgroups import CGroup
from rubrics.environments.inside import root_of
from rubrics.environments.kept_shell import FOLDER, LOOP, Broken, KeptShell
from rubrics.environments.own_disk import OwnDisk
from rubrics.environments.pipes import PipeChannel
from rubrics.environments.recipes import PATH, Root
from rubrics.environments.saved import keep_folders
from rubrics.environments.seccomp import kernel_filter
from rubrics.environments.session import Limits
from rubrics.environments.shell_session import OWN_EXITS, Around, ShellSession
from rubrics.environments.shells import put_shell
from rubrics.environments.state import State, remove_tree
from rubrics.errors import InfraError

ISOLATION = (
    "--unshare-all", "--as-pid-1", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv",
    "--hostname", "sandbox", "--proc", "/proc", "--dev", "/dev",
)  # fmt: skip
READ_ONLY = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/mtrr")
MASKED = ("/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/kmsg", "/proc/timer_list", "/proc/sched_debug")
"""What Docker closes too: user 0 inside is user 0 outside, so files of /proc that belong to it would open."""
END_SECONDS = 5.0
"""For bwrap to end after its shell."""


class Sandbox:
    """One running bwrap with its overlay and control group."""

    def __init__(self, folder: Path, state: State, limits: Limits) -> None:
        self._folder = folder
        self._state = state
        self._limits = limits
        self._cgroup = CGroup(state, limits)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, root: Root) -> None:
        merged = self._folder / "root"
        if mounts.may_mount():
            mounts.tmpfs(self._folder, self._limits.disk, self._limits.files)
            mounts.overlay(root.layers, self._folder, merged)
        else:
            copy_layers(root.layers, merged)
        shell = self._folder / "shell"
        put_shell(root.layers if not root.host_programs else (Path("/"),), shell)
        command = ["bwrap", "--bind", str(merged), "/", *ISOLATION, "--ro-bind", str(shell), FOLDER]
        command += [word for path in READ_ONLY if Path(path).exists() for word in ("--ro-bind", path, path)]
        command += [word for path in MASKED if Path(path).exists() for word in ("--ro-bind", "/dev/null", path)]
        if root.host_programs:
            command += ["--ro-bind", "/usr", "/usr"]
            if Path("/etc/alternatives").is_dir():
                command += ["--ro-bind", "/etc/alternatives", "/etc/alternatives"]
        env = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", **root.env}
        for name, value in env.items():
            command += ["--setenv", name, value]
        with _filter() as seccomp:
            if seccomp is not None:
                command += ["--seccomp", str(seccomp)]
            command += ["--chdir", "/", f"{FOLDER}/sh", "-c", LOOP]
            self._process = self._started(command, () if seccomp is None else (seccomp,))

    def _started(self, command: list[str], descriptors: tuple[int, ...]) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return _starter().submit(
            subprocess.Popen, [*self._limited(), *command], stdin=pipe, stdout=pipe, stderr=pipe, env={"PATH": PATH},
            start_new_session=True, pass_fds=descriptors,
        ).result()  # fmt: skip

    def _limited(self) -> list[str]:
        """Words before a command that put it into the control group, or give it process limits where there is none."""
        enter = 'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 1; shift; done; shift; exec "$@"'
        if self._cgroup.folders:
            return ["/bin/sh", "-c", enter, "sh", *map(str, self._cgroup.folders), "--"]
        return ["prlimit", f"--as={self._limits.memory}", f"--nproc={self._limits.pids}", "--"]

    def session(self, root: Root) -> ShellSession:
        assert self._process is not None
        around = Around(
            self._why_broken, self._cgroup.oom_kills, self._used_up(), self._check_disk, cache(self._root), self.close,
            lambda *kept: self._save(root, *kept),
        )  # fmt: skip
        return ShellSession(KeptShell(PipeChannel(self._process)), root.workdir, self._limits, around, root.digest)

    def _save(self, root: Root, owner: str, without: Collection[str]) -> str:
        root = replace(root, env={name: value for name, value in root.env.items() if name not in without})
        upper = self._folder / "upper" if mounts.may_mount() else None
        return keep_folders(self._state, root, self._folder / "root", upper, owner)

    def _root(self) -> Path | None:
        """The shell is bwrap's only child."""
        assert self._process is not None
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
            return root_of(int(children[0])) if len(children) == 1 else None
        return None

    def _used_up(self) -> Callable[[], str | None]:
        """An overlay's own disk is full when it is full; copies lie on the machine's."""
        if mounts.may_mount():
            return lambda: None
        return OwnDisk(self._folder, lambda: self._folder, self._limits, copied=True).used_up

    def _check_disk(self) -> None:
        self._state.check_disk(self._limits.free_disk)

    def _why_broken(self, error: Broken, answered: bool) -> str:
        code: int | None = None
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._process.wait(END_SECONDS)
        if answered and self._cgroup.oom_kills():
            return "memory"
        if answered and code in OWN_EXITS:
            return "sandbox"
        self._check_disk()
        kind = "engine_died" if answered else "no_sandbox"
        raise InfraError(
            kind, f"bubblewrap ended (exit code {code}): {error}; try `bwrap --unshare-all true`"
        ) from None

    def close(self, dirty: bool) -> None:
        if self._process is not None:
            _end(self._process)
        if mounts.may_mount():
            mounts.unmount(self._folder / "root")
            mounts.unmount(self._folder)
        remove_tree(self._folder)
        self._cgroup.close()


@contextlib.contextmanager
def _filter() -> Iterator[int | None]:
    """A descriptor from which bwrap reads the filter of system calls; null where there is none for this processor."""
    program = kernel_filter()
    if program is None:
        yield None
        return
    descriptor = os.memfd_create("seccomp")
    try:
        os.write(descriptor, program)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


@cache
def _starter() -> ThreadPoolExecutor:
    """A thread that lives as long as this process: `--die-with-parent` ends a sandbox with the thread it came from."""
    return ThreadPoolExecutor(1, "sandboxes")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End bwrap, and its child that may still wait for it. Pipes are closed, not read: their end may not come."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def copy_layers(layers: tuple[Path, ...], target: Path) -> None:
    """Stand-in for an overlay where mounting is not allowed: everything is copied, the topmost last."""
    for layer in reversed(layers):
        shutil.copytree(layer, target, symlinks=True, dirs_exist_ok=True)
