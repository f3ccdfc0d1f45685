"""Files that belong to a commit: written beside it first, put in place after the manifest, finished by whoever comes
next where a process died in between."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from rubrics.digests import digest128
from rubrics.store.files import sync_folder, write_atomic
from rubrics.store.paths import StorePaths

_GONE = ""
"""What a file says that stands for one which goes."""


class Pending:
    """The files of one commit that are not in place yet."""

    def __init__(self, paths: StorePaths, commit: int) -> None:
        self._paths = paths
        self._folder = paths.pending / f"{commit:08d}"
        self.digests: dict[str, str] = {}
        """Digest of each file's text, by its name in the store."""

    def __bool__(self) -> bool:
        return bool(self.digests)

    def write(self, path: Path, text: str) -> None:
        """Have a file of the store say this once the commit is made."""
        name, digest = path.relative_to(self._paths.root).as_posix(), digest128([text])
        write_atomic(self._paths.file(digest), text)
        write_atomic(self._folder / name, text)
        self.digests[name] = digest

    def remove(self, path: Path) -> None:
        """Have a file of the store go once the commit is made."""
        write_atomic(self._folder / path.relative_to(self._paths.root), _GONE)

    def put_in_place(self) -> None:
        """Move the files to where they belong."""
        place(self._paths, self._folder)

    def discard(self) -> None:
        _remove(self._folder)


def place(paths: StorePaths, folder: Path) -> None:
    """Move a commit's files to where they belong, and remove those that go; what is there already was moved before."""
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            target = paths.root / file.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.stat().st_size > len(_GONE):
                os.replace(file, target)
            else:
                target.unlink(missing_ok=True)
                file.unlink()
            sync_folder(target.parent)
    _remove(folder)


def settle(paths: StorePaths, commit: int) -> None:
    """Finish what the commit that the manifest is at left to do, and forget files of commits that were never made."""
    for folder in sorted(paths.pending.glob("[0-9]*")):
        if folder.name == f"{commit:08d}":
            place(paths, folder)
        else:
            _remove(folder)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.parent.rmdir()  # when no other commit's folder is there
