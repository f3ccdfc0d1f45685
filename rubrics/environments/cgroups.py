"""Control groups for the bubblewrap backend: memory, processes and processors of one sandbox, in version 1 or 2."""

from __future__ import annotations

import contextlib
import uuid
from pathlib import Path

from rubrics.environments.session import Limits
from rubrics.environments.state import State, remove_cgroup

ROOT = Path("/sys/fs/cgroup")
PERIOD = 100_000
"""Microseconds over which the processors' time is counted."""


class CGroup:
    """The groups of one sandbox. `folders` is empty where none can be made: then process limits stand in."""

    def __init__(self, state: State, limits: Limits) -> None:
        self._name = f"rubrics-{state.run}-{uuid.uuid4().hex[:6]}"
        self.folders: list[Path] = []
        try:
            if (ROOT / "cgroup.controllers").exists():
                self._version_2(state, limits)
            else:
                self._version_1(state, limits)
        except OSError:
            self.close()

    def _version_1(self, state: State, limits: Limits) -> None:
        memory = self._make(state, ROOT / "memory")
        (memory / "memory.limit_in_bytes").write_text(str(limits.memory))
        swap = memory / "memory.memsw.limit_in_bytes"
        if swap.exists():
            swap.write_text(str(limits.memory))
        (self._make(state, ROOT / "pids") / "pids.max").write_text(str(limits.pids))
        if (ROOT / "cpu").is_dir():
            cpu = self._make(state, ROOT / "cpu")
            (cpu / "cpu.cfs_period_us").write_text(str(PERIOD))
            (cpu / "cpu.cfs_quota_us").write_text(str(int(limits.cpus * PERIOD)))

    def _version_2(self, state: State, limits: Limits) -> None:
        folder = self._make(state, ROOT)
        (folder / "memory.max").write_text(str(limits.memory))
        swap = folder / "memory.swap.max"
        if swap.exists():
            swap.write_text("0")
        (folder / "pids.max").write_text(str(limits.pids))
        if (folder / "cpu.max").exists():  # machines may keep this controller from us
            (folder / "cpu.max").write_text(f"{int(limits.cpus * PERIOD)} {PERIOD}")

    def _make(self, state: State, parent: Path) -> Path:
        folder = parent / self._name
        state.note_cgroup(folder)
        folder.mkdir()
        self.folders.append(folder)
        return folder

    def add(self, process: int) -> None:
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(process))

    def oom_kills(self) -> int:
        """Processes that the memory limit killed so far."""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with contextlib.suppress(OSError):
                    return oom_kills_in((folder / name).read_text())
        return 0

    def close(self) -> None:
        for folder in self.folders:
            remove_cgroup(folder)
        self.folders = []


def oom_kills_in(text: str) -> int:
    """The count that a control group's event file gives."""
    counts = [line.split()[1] for line in text.splitlines() if line.startswith("oom_kill ")]
    return int(counts[0]) if counts else 0
