"""Where environments keep things on the host, and how what a killed process left is found again."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rubrics.environments.mounts import may_mount, mount_points, unmount, unmount_under
from rubrics.errors import InfraError

FREE_FILES = 4096
"""Files that there must be room for where environments lie."""


def default_root() -> Path:
    """The user's cache folder for environments."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rubrics" / "environments"


class State:
    """One process's place in the state folder:

    ```
    <root>/
      images/<digest>/        root file systems and repository layers, built once, kept
      lock                    held while a run begins, and while dead ones are looked for
      runs/<run>/lock         held by the process as long as it lives, let go of by the kernel
      runs/<run>/<n>/         one open environment: its overlay, its mounts
      runs/<run>/cgroups      control groups it made, one a line
    ```
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = (root or default_root()).absolute()
        self.run = uuid.uuid4().hex[:12]
        self.images = self.root / "images"
        self.folder = self.root / "runs" / self.run
        try:
            self.images.mkdir(parents=True, exist_ok=True)
            self.folder.parent.mkdir(exist_ok=True)
            with _alone(self.root):
                self.folder.mkdir()
                self._lock = open(self.folder / "lock", "wb")  # noqa: SIM115  (held until the process ends)
                fcntl.flock(self._lock, fcntl.LOCK_EX)
        except OSError as error:
            raise InfraError(_kind(error), f"{self.root}: {error.strerror}; free it or name another folder") from None
        self._count = 0

    def new_folder(self) -> Path:
        self._count += 1
        folder = self.folder / f"{self._count}-{uuid.uuid4().hex[:6]}"
        try:
            folder.mkdir()
        except OSError as error:
            raise InfraError(_kind(error), f"{folder}: {error.strerror}") from None
        return folder

    def check_disk(self, wanted: int, *places: Path) -> None:
        """Raises `InfraError` when fewer bytes than `wanted` are free in the state folder, or in one of `places`, or
        room for hardly a file."""
        for place in (self.root, *places):
            try:
                found = os.statvfs(place)
            except OSError as error:
                raise InfraError(_kind(error), f"{place}: {error.strerror}") from None
            free = found.f_bavail * found.f_frsize
            if free < wanted:
                raise InfraError("disk_full", f"{place}: {free >> 20} MiB free, {wanted >> 20} wanted; free some space")
            if found.f_files and found.f_favail < FREE_FILES:
                raise InfraError("disk_full", f"{place}: room for {found.f_favail} files; remove some")

    def note_cgroup(self, path: Path) -> None:
        with open(self.folder / "cgroups", "a", encoding="utf-8") as lines:
            lines.write(f"{path}\n")

    @contextmanager
    def building(self, target: Path) -> Iterator[Path | None]:
        """A folder to build in, that becomes `target` at the end; null when `target` is there. One builder a time.

        Raises `InfraError` for any `OSError` of the building too.
        """
        try:
            with open(self.images / f".{target.name}.lock", "wb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if target.exists():
                    yield None
                    return
                folder = self.new_folder()
                yield folder
                os.replace(folder, target)
        except OSError as error:
            raise InfraError(_kind(error), f"{target}: cannot be built: {error}") from None

    def close(self) -> None:
        remove_run(self.folder)
        self._lock.close()


def dead_runs(root: Path) -> Iterator[Path]:
    """Folders of runs whose process has ended, however it ended."""
    runs = root / "runs"
    for folder in sorted(runs.iterdir()) if runs.is_dir() else ():
        if folder.is_dir() and not is_alive(root, folder.name):
            yield folder


def is_alive(root: Path, run: str) -> bool:
    """Whether a process holds the run's lock."""
    try:
        with open(root / "runs" / run / "lock", "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def sweep(root: Path) -> int:
    """Remove what dead runs left on the host: mounts, control groups, folders; returns how many runs went."""
    with _alone(root):
        dead = list(dead_runs(root))
    for folder in dead:
        remove_run(folder)
    for point in mount_points() if may_mount() else ():
        if point.startswith(f"{root}/images/") and "/" in point.removeprefix(f"{root}/images/"):
            unmount(Path(point))  # nothing is mounted inside an image but what a killed build has left
    return len(dead)


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """No run begins beside this: between its folder and its lock it would look dead."""
    if not (root / "runs").is_dir():
        yield
        return
    with open(root / "lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def remove_run(folder: Path) -> None:
    unmount_under(folder)
    listed = folder / "cgroups"
    for line in listed.read_text("utf-8").splitlines() if listed.is_file() else ():
        remove_cgroup(Path(line))
    remove_tree(folder)


def remove_tree(folder: Path) -> None:
    """Remove a folder of untrusted content, however deep it is and whatever its modes are."""
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        if folder.exists():
            for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
                with suppress(OSError):
                    subprocess.run([*command, "--", str(folder)], capture_output=True)


def remove_cgroup(path: Path) -> None:
    """Remove a control group; processes that are still in it are killed first, and take a moment to go."""
    for _ in range(2000):
        try:
            for process in (path / "cgroup.procs").read_text().split():
                os.kill(int(process), 9)
            path.rmdir()
            return
        except FileNotFoundError:
            return
        except (ProcessLookupError, OSError):
            time.sleep(0.001)


def _kind(error: OSError) -> str:
    return "disk_full" if error.errno == 28 else "state"
