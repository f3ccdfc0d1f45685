"""One long-lived, locked-down container, and the fresh folders that each rollout finds in it."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from rubrics.digests import digest128
from rubrics.environments import mounts
from rubrics.environments.docker_engine import Engine
from rubrics.environments.docker_images import Prepared
from rubrics.environments.kept_shell import Broken, KeptShell, Silent
from rubrics.environments.session import Limits
from rubrics.environments.state import State
from rubrics.errors import InfraError

TMP_BYTES = 1 << 30
SHM_BYTES = 256 << 20
_TRACES = (
    "echo /dev/* /dev/.[!.]* /dev/mqueue/* /dev/mqueue/.[!.]* /proc/[0-9]*; "
    "for f in sysvipc/shm sysvipc/sem sysvipc/msg 1/limits 1/oom_score_adj 1/autogroup self/fdinfo/1; do "
    "while read -r x; do echo $x; done < /proc/$f; done; "
    "read -r x < /proc/1/stat; set -- ${x##*)}; echo ${17} ${38} ${39}"
)
"""What could outlive a rollout besides its mounts: entries of /dev, message queues, shared memory, processes; what the
shell may use and how soon it has its turn, which commands inherit; whether its output waits for a reader."""


class Slot:
    """A container that sees mounts of ours: the working folder, /tmp, /var/tmp and /dev/shm; its root is read-only."""

    def __init__(
        self,
        engine: Engine,
        state: State,
        image: Prepared,
        create: Callable[[Prepared, dict[str, Any]], str],
        limits: Limits,
    ) -> None:
        self._limits = limits
        self._engine = engine
        self._lower = _working_tree(engine, state, image, create)
        self._folder = state.new_folder()
        self._places = {"work": image.workdir, "tmp": "/tmp", "var": "/var/tmp", "shm": "/dev/shm"}
        self.uses = 0
        self._view = self._folder / "view"
        self._upper = self._folder / "upper"
        self.container = ""
        self.root: Callable[[], Path | None] = cache(lambda: engine.root(self.container))
        try:
            self._make_places()
            binds = {str(self._view / name): {"bind": at, "mode": "rw,rslave"} for name, at in self._places.items()}
            host = {"binds": binds, "read_only": True, "env": {"HOME": "/tmp/home"}}
            self.container = create(image, host)
            self.channel = engine.start(self.container)
            self.shell = KeptShell(self.channel)
            self._clean = self._traces()
        except (Broken, Silent) as error:
            self.remove()
            raise InfraError("no_sandbox", f"the image's shell does not answer in a container: {error}") from None
        except BaseException:
            self.remove()
            raise

    def _make_places(self) -> None:
        mounts.tmpfs(self._folder, 1 << 20)  # who looks from inside sees mounts begin here, not in our folder
        self._upper.mkdir()
        self._view.mkdir()
        mounts.shared(self._view)
        for name in self._places:
            (self._view / name).mkdir()

    def enter(self) -> None:
        """Mount fresh folders for the next rollout."""
        self.uses += 1
        mounts.tmpfs(self._upper, self._limits.disk, self._limits.files)
        mounts.overlay([self._lower], self._upper / "rollout", self._view / "work")
        for name, size in (("tmp", TMP_BYTES), ("var", TMP_BYTES), ("shm", SHM_BYTES)):
            mounts.tmpfs(self._view / name, size, self._limits.files)
        (self._view / "tmp" / "home").mkdir()

    def leave(self) -> bool:
        """Take the rollout's folders away; false when anything of it is left, or the shell is."""
        try:
            clean = self._traces() == self._clean
            for place in (*(self._view / name for name in self._places), self._upper):
                mounts.unmount(place)
        except (Broken, Silent, InfraError):
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
