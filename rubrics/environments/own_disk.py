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

    Looking at the disk takes microseconds; measuring walks the folder, and is worth it only then. What lies there at
    first, where the image was copied there, is not the sandbox's.
    """

    def __init__(self, place: Path, folder: Callable[[], Path | None], limits: Limits, *, copied: bool = False) -> None:
        self._place = place
        self._folder = folder
        self._allowed = (limits.disk, limits.files)
        self._first = self._used() if copied else (0, 0)
        self._seen = self._free()

    def used_up(self) -> str | None:
        """`disk` where the sandbox has written more than it may; see `Around.used_up`."""
        now = self._free()
        self._seen = (max(self._seen[0], now[0]), max(self._seen[1], now[1]))
        lost = [seen - free for seen, free in zip(self._seen, now, strict=True)]
        if all(gone < allowed // SHARE for gone, allowed in zip(lost, self._allowed, strict=True)):
            return None
        self._seen = now
        measured = zip(self._used(), self._first, self._allowed, strict=True)
        return "disk" if any(used - first > allowed for used, first, allowed in measured) else None

    def _free(self) -> tuple[int, int]:
        found = os.statvfs(self._place)
        return found.f_bavail * found.f_frsize, found.f_favail

    def _used(self) -> tuple[int, int]:
        folder = self._folder()
        return (0, 0) if folder is None else (_sum(folder, "-B1"), _sum(folder, "--inodes"))


def _sum(folder: Path, unit: str) -> int:
    """What `du` says, which follows folders deeper than any path; 0 where it cannot tell."""
    try:
        done = subprocess.run(["du", "-xs", unit, "--", str(folder)], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return 1 << 62
    except OSError:
        return 0
    words = done.stdout.split("\t", 1)
    return int(words[0]) if words[0].isdecimal() else 0
