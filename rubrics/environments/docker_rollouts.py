"""The Docker backend: a container per rollout, or a long-lived container per image for dumps that are trusted more.

Every container: no network, no capabilities, no new privileges, limits on processes and memory, labels by which a
later start finds what a killed process left. Per image, rollouts come one after another into the same container, each
with its own overlay, /tmp and /dev/shm; between two of them every process is killed, and a container in which anything
else is left is thrown away (`slots.py`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

from rubrics.environments import mounts
from rubrics.environments.cgroups import oom_kills_in
from rubrics.environments.docker_channel import DockerChannel
from rubrics.environments.docker_engine import LABEL, STATE_LABEL, Engine
from rubrics.environments.docker_images import DockerImages, Prepared
from rubrics.environments.images import Images
from rubrics.environments.kept_shell import FOLDER, LOOP, Broken, KeptShell
from rubrics.environments.ladder import climb, start_digest
from rubrics.environments.own_disk import OwnDisk
from rubrics.environments.recipes import PATH, Places, Start
from rubrics.environments.seccomp import docker_profile
from rubrics.environments.session import Limits, Session
from rubrics.environments.shell_session import OWN_EXITS, Around, ShellSession, answering
from rubrics.environments.slots import Slot
from rubrics.environments.state import State, is_alive, sweep
from rubrics.errors import InfraError
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Task

_OOM = (
    "for f in /sys/fs/cgroup/memory/memory.oom_control /sys/fs/cgroup/memory.events; do "
    '[ ! -r $f ] || while read -r a b; do echo "$a $b"; done < $f; done'
)
"""Without a program of the container."""
PERIOD = 100_000
"""Microseconds over which the processors' time is counted."""
USES = 200
"""Rollouts after which a container of the per-image mode is replaced."""


class DockerEnvironment:
    """Environments in Docker. Sweeps what killed runs left when it starts."""

    name = "docker"

    def __init__(self, places: Places, limits: Limits, state: State, *, per_image: bool = False) -> None:
        self.engine = Engine()
        sweep_containers(self.engine, state)
        sweep(state.root)
        if per_image and not mounts.may_mount():
            raise InfraError("mount", "one container per image needs root for its overlays; leave --env-mode out")
        self._limits = limits
        self._state = state
        self._data = self.engine.data_folders()
        self._seccomp = [f"seccomp={docker_profile()}"] if self.engine.has_seccomp() else []
        self._images = DockerImages(self.engine, state, Images(state, places))
        self._per_image = per_image
        self._idle: dict[str, list[Slot]] = {}
        self._lock = threading.Lock()

    def open(self, task: Task, rollout: Rollout | None, *, saved: str | None = None) -> Session:
        """See `Environment.open`."""
        return climb(task, rollout, saved, lambda start: self._begin(start, task.base_commit))

    def save(self, session: Session, owner: str, without: Collection[str] = ()) -> str:
        """See `Saving.save`."""
        assert isinstance(session, ShellSession)
        return session.save(owner, without)

    def stands(self, saved: str, task: Task) -> bool:
        """See `Backend.stands`."""
        kept = self._images.kept(saved)
        found = start_digest(task, lambda start: self._images.prepared(start, task.base_commit).digest)
        return kept is not None and kept.start == found

    def _begin(self, start: Start, base_commit: str | None) -> ShellSession:
        self._check_disk()
        image = self._images.prepared(start, base_commit)
        if self._per_image and start.rung != "snapshot":
            return self._in_slot(image)
        if self._data:  # what a rollout may write has to be there: else it could bring about `infra`
            self._state.check_disk(self._limits.free_disk + self._limits.disk, *self._data)
        container = self._create(image, {})
        try:
            channel = self.engine.start(container)
        except BaseException:
            self.engine.remove(container)
            raise
        shell = KeptShell(channel)
        around = self._around(
            container, shell, cache(partial(self.engine.root, container)), lambda dirty: self._end(container, channel),
            self._used_up(container), lambda *kept: self._images.keep(container, image, *kept),
        )  # fmt: skip
        return answering(ShellSession(shell, image.workdir, self._limits, around, image.digest))

    def _used_up(self, container: str) -> Callable[[], str | None]:
        if not self._data:
            return lambda: None
        return OwnDisk(self._data[0], partial(self.engine.written_folder, container), self._limits).used_up

    def _end(self, container: str, channel: DockerChannel) -> None:
        channel.close()
        self.engine.remove(container)

    def _create(self, image: Prepared, host: dict[str, Any]) -> str:
        limits = self._limits
        labels = {LABEL: self._state.run, STATE_LABEL: str(self._state.root)}
        env = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", **image.env, **host.pop("env", {})}
        locked: dict[str, Any] = {
            "network_mode": "none", "cap_drop": ["ALL"], "security_opt": ["no-new-privileges", *self._seccomp],
            "pids_limit": limits.pids, "mem_limit": limits.memory, "memswap_limit": limits.memory,
            "cpu_period": PERIOD, "cpu_quota": int(limits.cpus * PERIOD), "log_config": {"type": "none"}, **host,
        }  # fmt: skip
        return self.engine.create(image.image_id, [f"{FOLDER}/sh", "-c", LOOP], labels, locked, environment=env)

    def _in_slot(self, image: Prepared) -> ShellSession:
        """In a container that others have left, if one still answers, else in a new one."""
        while (slot := self._idle_slot(image)) is not None:
            with suppress(InfraError):
                return self._entered(slot, image)
        return self._entered(Slot(self.engine, self._state, image, self._create, self._limits), image)

    def _idle_slot(self, image: Prepared) -> Slot | None:
        with self._lock:
            idle = self._idle.setdefault(image.image_id, [])
            return idle.pop() if idle else None

    def _entered(self, slot: Slot, image: Prepared) -> ShellSession:
        try:
            slot.enter()
        except BaseException:
            slot.remove()
            raise
        around = self._around(
            slot.container, slot.shell, slot.root, lambda dirty: self._leave(slot, image, dirty), lambda: None
        )
        return answering(ShellSession(slot.shell, image.workdir, self._limits, around, image.digest))

    def _leave(self, slot: Slot, image: Prepared, dirty: bool) -> None:
        if dirty or slot.uses >= USES or not slot.leave():
            slot.remove()
            return
        with self._lock:
            self._idle[image.image_id].append(slot)

    def _around(
        self,
        container: str,
        shell: KeptShell,
        root: Callable[[], Path | None],
        close: Callable[[bool], None],
        used_up: Callable[[], str | None],
        save: Callable[[str, Collection[str]], str] | None = None,
    ) -> Around:
        def oom_kills() -> int:
            return oom_kills_in(shell.run(_OOM, 30.0, 1 << 16, 1 << 20).output.decode("utf-8", "replace"))

        return Around(partial(self._why_broken, container), oom_kills, used_up, self._check_disk, root, close, save)

    def _why_broken(self, container: str, error: Broken, answered: bool) -> str:
        state = self.engine.ended(container)
        if answered and state.get("OOMKilled"):
            return "memory"
        if answered and not state.get("Running", True) and state.get("ExitCode") in OWN_EXITS:
            return "sandbox"
        self._check_disk()
        found = f"{state.get('Status')}, exit code {state.get('ExitCode')}" if state else "gone"
        kind = "engine_died" if answered else "no_sandbox"
        raise InfraError(kind, f"the container is {found}: {error}; see the engine's log") from None

    def _check_disk(self) -> None:
        self._state.check_disk(self._limits.free_disk, *self._data)

    def close(self) -> None:
        """See `Environment.close`."""
        with self._lock:
            slots = [slot for idle in self._idle.values() for slot in idle]
            self._idle.clear()
        for slot in slots:
            slot.remove()
        self.engine.close()
        self._state.close()


def sweep_containers(engine: Engine, state: State) -> int:
    """Remove containers of this state folder whose process has ended; returns how many."""
    gone = 0
    for container, labels in engine.containers(f"{STATE_LABEL}={state.root}"):
        if not is_alive(state.root, labels.get(LABEL, "")):
            engine.remove(container)
            gone += 1
    return gone
