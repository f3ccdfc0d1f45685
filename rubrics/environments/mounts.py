"""Mounts made on the host, through the C library: overlays, shared binds, and taking them away again."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from rubrics.errors import InfraError

_MS_BIND, _MS_REC, _MS_PRIVATE, _MS_SHARED, _MNT_DETACH = 0x1000, 0x4000, 1 << 18, 1 << 20, 2
_C = ctypes.CDLL(None, use_errno=True)


def may_mount() -> bool:
    """Whether this process may mount at all."""
    return os.geteuid() == 0


def overlay(lower: Sequence[Path], folder: Path, target: Path) -> None:
    """Mount `lower` (topmost first) at `target`, with what is written going to new folders in `folder`.

    The folders are given by descriptors: a path would have to do without some signs, and who sees the mount from inside
    would read where on this machine they lie.
    """
    upper, work = folder / "upper", folder / "work"
    upper.mkdir(parents=True)
    work.mkdir()
    target.mkdir(parents=True, exist_ok=True)
    with ExitStack() as opened:
        names = []
        for path in (*lower, upper, work):
            descriptor = os.open(path, os.O_PATH | os.O_DIRECTORY)
            opened.callback(os.close, descriptor)
            names.append(f"/proc/self/fd/{descriptor}")
        data = f"lowerdir={':'.join(names[:-2])},upperdir={names[-2]},workdir={names[-1]}"
        _mount("overlay", target, "overlay", 0, data)


def tmpfs(target: Path, size: int, files: int = 1 << 20) -> None:
    """A new file system in memory for so many bytes and files, open to everyone like /tmp."""
    _mount("tmpfs", target, "tmpfs", 0, f"size={size},nr_inodes={files},mode=1777")


def shared(folder: Path) -> None:
    """Make `folder` a mount whose later mounts reach the containers that see it."""
    _mount(str(folder), folder, "", _MS_BIND, "")
    _mount("none", folder, "", _MS_SHARED, "")


def unmount(target: Path) -> None:
    """Take the topmost mount at `target` away, also when it is in use; nothing happens when there is none."""
    if _C.umount2(os.fsencode(target), _MNT_DETACH) != 0 and ctypes.get_errno() not in (2, 22):
        raise InfraError("mount", f"{target}: cannot be unmounted: {os.strerror(ctypes.get_errno())}")


def unmount_under(folder: Path) -> int:
    """Take every mount at or below `folder` away, the innermost first; returns how many there were."""
    found = [point for point in mount_points() if point == str(folder) or point.startswith(f"{folder}/")]
    for point in sorted(found, key=len, reverse=True):
        unmount(Path(point))
    return len(found)


def mount_points() -> list[str]:
    """Every mount point this process sees, in the order of mounting."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as lines:
        return [_plain(line.split()[4]) for line in lines]


def _plain(point: str) -> str:
    return point.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")


def _mount(source: str, target: Path, kind: str, flags: int, data: str) -> None:
    arguments = (os.fsencode(source), os.fsencode(target), kind.encode(), flags, os.fsencode(data))
    if _C.mount(arguments[0], arguments[1], arguments[2], ctypes.c_ulong(arguments[3]), arguments[4]) != 0:
        code = ctypes.get_errno()
        kind_of = "disk_full" if code == 28 else "mount"
        raise InfraError(kind_of, f"{target}: mount failed: {os.strerror(code)}; environments need root for overlays")
