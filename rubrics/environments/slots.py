"""One long-lived, locked-down container, and the fresh folders that each rollout finds in it."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rubrics.digests import digest128
from rubrics.environments import mounts
from rubrics.environments.docker_engine import Engine
from rubrics.environments.docker_images import Prepared
from rubrics.environments.kept_shell import Broken, KeptShell
from rubrics.environments.state import State
from rubrics.errors import InfraError

TMP_BYTES = 1 << 30
SHM_BYTES = 256 << 20
_TRACES = (
    "echo /dev/* /dev/.[!.]* /dev/mqueue/* /dev/mqueue/.[!.]* /proc/[0-9]*; "
    "for f in shm sem msg; do while read -r x; do echo $x; done < /proc/sysvipc/$f; done"
)
"""What could outlive a rollout besides its mounts: entries of /dev, message queues, shared memory, processes."""


class Slot:
    """A container that sees mounts of ours: the working folder, /tmp, /var/tmp and /dev/shm; its root is read-only."""

    def __init__(
        self,
        engine: Engine,
        state: State,
        image: Prepared,
        create: Callable[[Prepared, dict[str, Any]], str],
        disk: int,
    ) -> None:
        self._disk = disk
        self._engine = engine
        self._lower = _working_tree(engine, state, image, create)
        self._folder = state.new_folder()
        self._places = {"work": image.workdir, "tmp": "/tmp", "var": "/var/tmp", "shm": "/dev/shm"}
        self.uses = 0
        self._view = self._folder / "view"
        self._view.mkdir()
        self._upper = self._folder / "upper"
        self._upper.mkdir()
        mounts.shared(self._view)
        for name in self._places:
            (self._view / name).mkdir()
        binds = {str(self._view / name): {"bind": place, "mode": "rw,rslave"} for name, place in self._places.items()}
        self.container = ""
        try:
            host = {"binds": binds, "read_only": True, "env": {"HOME": "/tmp/home"}}
            self.container = create(image, host)
            self.channel = engine.start(self.container)
            self.shell = KeptShell(self.channel)
            self._clean = self._traces()
        except BaseException:
            self.remove()
            raise

    def enter(self) -> None:
        """Mount fresh folders for the next rollout."""
        self.uses += 1
        mounts.tmpfs(self._upper, self._disk)
        mounts.overlay([self._lower], self._upper / "rollout", self._view / "work")
        mounts.tmpfs(self._view / "tmp", TMP_BYTES)
        mounts.tmpfs(self._view / "var", TMP_BYTES)
        mounts.tmpfs(self._view / "shm", SHM_BYTES)
        (self._view / "tmp" / "home").mkdir()

    def leave(self) -> bool:
        """Take the rollout's folders away; false when anything of it is left, or the shell is."""
        try:
            clean = self._traces() == self._clean
            for place in (*(self._view / name for name in self._places), self._upper):
                mounts.unmount(place)
        except (Broken, InfraError):
            return False
        return clean

    def remove(self) -> None:
        if self.container:
            if hasattr(self, "channel"):
                self.channel.close()
            self._engine.remove(self.container)
        mounts.unmount_under(self._folder)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _traces(self) -> bytes:
        """Process ids differ between runs, their number does not: the shell and its two children."""
        lines = self.shell.run(_TRACES, 30.0, 1 << 20, 1 << 22).output
        words = lines.split()
        processes = sum(word.startswith(b"/proc/") for word in words)
        return b" ".join(word for word in words if not word.startswith(b"/proc/")) + b" %d" % processes


def _working_tree(
    engine: Engine, state: State, image: Prepared, create: Callable[[Prepared, dict[str, Any]], str]
) -> Path:
    """The image's working folder, copied out once."""
    target = state.images / digest128(["tree", image.image_id, image.workdir])
    if target.exists():
        return target
    with state.building(target) as folder:
        if folder is not None:
            container = create(image, {})
            try:
                _copy_out(engine, container, image.workdir, folder)
            finally:
                engine.remove(container)
    return target


def _copy_out(engine: Engine, container: str, workdir: str, folder: Path) -> None:
    top = workdir.rstrip("/").rpartition("/")[2]
    with tempfile.TemporaryFile() as archive:
        for chunk in engine.get(container, workdir):
            archive.write(chunk)
        archive.seek(0)
        with tarfile.open(fileobj=archive) as tar:
            for member in tar:
                member.name = member.name.removeprefix(top).lstrip("/") or "."
                if member.islnk():
                    member.linkname = member.linkname.removeprefix(top).lstrip("/")
                if not member.isdev():
                    tar.extract(member, folder, numeric_owner=True, filter="tar")
