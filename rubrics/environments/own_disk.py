"""What one sandbox has written to a disk that it shares with others; measured when that disk has shrunk enough."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from rubrics.environments.session import Limits

SECONDS = 60.0
"""For one measurement; a tree that takes longer holds more files than a rollout may make."""
SHARE = 8
"""Measured again when the disk has lost one part in so many of what the rollout may write."""


class OwnDisk:
    """Watches the disk of `place`. `folder` gives where the sandbox's own writing lies, null where nobody knows.

    Looking at the disk takes microseconds; measuring walks the folder, and is worth it only then.
    """

    def __init__(self, place: Path, folder: Callable[[], Path | None], limits: Limits) -> None:
        self._place = place
        self._folder = folder
        self._limits = limits
        self._seen = self._free()

    def used_up(self) -> str | None:
        """`disk` where the sandbox has written more than it may; see `Around.used_up`."""
        now = self._free()
        steps = (self._limits.disk // SHARE, self._limits.files // SHARE)
        self._seen = (max(self._seen[0], now[0]), max(self._seen[1], now[1]))
        if all(seen - free < step for seen, free, step in zip(self._seen, now, steps, strict=True)):
            return None
        self._seen = now
        folder = self._folder()
        if folder is None:
            return None
        allowed = (self._limits.disk, self._limits.files)
        return "disk" if any(_used(folder, *pair) for pair in zip(("-B1", "--inodes"), allowed, strict=True)) else None

    def _free(self) -> tuple[int, int]:
        found = os.statvfs(self._place)
        return found.f_bavail * found.f_frsize, found.f_favail


def _used(folder: Path, unit: str, allowed: int) -> bool:
    """Whether the folder takes more than is allowed; false where that cannot be told."""
    try:
        done = subprocess.run(["du", "-xs", unit, "--", str(folder)], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return True
    except OSError:
        return False
    words = done.stdout.split("\t", 1)
    return words[0].isdecimal() and int(words[0]) > allowed
