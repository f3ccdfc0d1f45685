"""Files written in one step, and errors of the system that say which file they are about."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rubrics.errors import StoreError

TEMPORARY = ".*.tmp"
"""Names of files that are being written; one that is left over belongs to a killed process."""


@contextmanager
def named(path: Path) -> Iterator[None]:
    """An error of the system in here that names no file, as of a full disk, or a temporary one, is about this one."""
    try:
        yield
    except OSError as error:
        if error.filename is None or Path(os.fsdecode(error.filename)).match(TEMPORARY):
            error.filename, error.filename2 = str(path), None
        raise


def write_atomic(path: Path, text: str) -> None:
    """Write under a temporary name, sync, rename; the folder is synced too."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(temporary, "w", encoding="utf-8") as handle:
                handle.write(text)
                handle.flush()
                os.fsync(handle.fileno())
            os.replace(temporary, path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    with named(folder):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the store's lock; the kernel lets go of it when the process ends, however it ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            message = f"{path.parent}: another process is writing to this store; wait for it or use --store"
            raise StoreError(message) from None
        yield
