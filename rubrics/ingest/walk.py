"""The files of a dump, in sorted order. Links that leave the dump are refused; only plain files are opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from rubrics.errors import UsageError
from rubrics.ingest.items import FileRef, Note, Source
from rubrics.ingest.names import folders_of, shown


def files_of(dump: Path, number: int) -> Iterator[FileRef | Note]:
    """Every plain file of the dump (a file or a folder), and a note for each entry that is not read.

    Raises `UsageError` when there is nothing at `dump`.
    """
    root = Path(os.path.realpath(dump))
    if root.is_dir():
        yield from _walk(root, root, number)
    elif root.is_file():
        name = shown(root.name)
        yield FileRef(root, name, number, folders_of(root), frozenset({name}))
    else:
        raise UsageError(f"dump {str(dump)!r}: no such file or folder; give a dump's file or folder")


def _walk(root: Path, folder: Path, number: int) -> Iterator[FileRef | Note]:
    """One folder: its files, then its folders."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        yield _left_out("unreadable", root, folder, number, f"{error.strerror}; make the folder readable")
        return
    files: list[Path] = []
    inner: list[Path] = []
    for name in names:
        if name.startswith("."):
            continue
        path = folder / name
        kind = _kind(root, path)
        if kind == "file":
            files.append(path)
        elif kind == "folder":
            inner.append(path)
        else:
            yield _left_out(kind[0], root, path, number, kind[1])
    beside = frozenset(shown(path.name) for path in files)
    folders = folders_of(folder / "x")
    for path in files:
        yield FileRef(path, _relative(root, path), number, folders, beside)
    for path in inner:
        yield from _walk(root, path, number)


def _kind(root: Path, path: Path) -> str | tuple[str, str]:
    """`file`, `folder`, or the kind and the detail of what is left out."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            target = Path(os.path.realpath(path))
            if root not in target.parents:
                return "unsafe_path", "a link that leaves the dump; copy what it points to into the dump"
            if not target.is_file():
                return "link", "a link to a folder of the same dump or to nothing; not followed"
            return "file"
    except OSError as error:
        return "unreadable", f"{error.strerror}; make the file readable"
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISREG(mode):
        return "file"
    return "not_recognised", "not a plain file (a pipe, socket or device); not opened"


def _left_out(kind: str, root: Path, path: Path, number: int, detail: str) -> Note:
    return Source(FileRef(path, _relative(root, path), number, folders_of(path), frozenset())).note(kind, detail)


def _relative(root: Path, path: Path) -> str:
    return shown(path.relative_to(root).as_posix())
