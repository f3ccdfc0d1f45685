"""What may be removed: nothing outside the root, no folder of the system, nothing that holds the work tree."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import normpath

from rubrics.preparation.config import Preparation

_SYSTEM = frozenset({
    "usr", "bin", "sbin", "lib", "lib64", "etc", "var", "home", "root", "opt", "tmp", "srv", "mnt", "proc", "sys",
    "dev", "usr/lib", "usr/bin", "usr/share", "usr/local", "usr/local/lib", "usr/local/bin", "var/tmp", "var/lib",
    "var/cache",
})  # fmt: skip


def removable(path: str, config: Preparation, around: Sequence[str]) -> bool:
    """Whether a path may go: below the root, no folder of the system, and nothing of `around` inside it."""
    root = config.root.rstrip("/")
    if normpath(path) != path or not path.startswith(root + "/") or path == root + "/":
        return False
    if any(inside(item, path) for item in around):
        return False
    return path[len(root) + 1 :] not in _SYSTEM


def inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
