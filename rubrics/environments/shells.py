"""The program of the kept-open shell: the image's own shell, executable and unreadable."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from rubrics.errors import InfraError

UNREADABLE = 0o111


def put_shell(layers: tuple[Path, ...], folder: Path) -> None:
    """Make a folder that holds the root's `/bin/sh` as `sh` with mode 0111. Raises `InfraError` when there is none."""
    program = _find(layers, "/bin/sh")
    folder.mkdir()
    shutil.copyfile(program, folder / "sh")
    (folder / "sh").chmod(UNREADABLE)


def _find(layers: tuple[Path, ...], path: str, depth: int = 0) -> Path:
    """The file that `path` means inside the layers, links followed inside them only."""
    seen: list[str] = []
    parts = [part for part in path.split("/") if part]
    while parts:
        part = parts.pop(0)
        if part in (".", ".."):
            seen = seen[:-1] if part == ".." else seen
            continue
        here = next((p for layer in layers if os.path.lexists(p := layer.joinpath(*seen, part))), None)
        if here is None or depth > 20:
            raise InfraError("no_image", "the image has no /bin/sh; give an image with a shell")
        if here.is_symlink():
            link = os.readlink(here)
            rest = "/".join((link if link.startswith("/") else "/".join(("", *seen, link)), *parts))
            return _find(layers, rest, depth + 1)
        seen.append(part)
    return next(p for layer in layers if (p := layer.joinpath(*seen)).is_file())
