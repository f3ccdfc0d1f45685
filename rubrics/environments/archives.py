"""Archives unpacked on the host: root file systems, `docker save` files, repositories. Never a path outside."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

from rubrics import jsonio
from rubrics.errors import InfraError

_WHITEOUT = ".wh."


@dataclass(frozen=True, slots=True)
class SavedConfig:
    """What an image says about running in it."""

    env: dict[str, str] = field(default_factory=dict)
    workdir: str | None = None


def digest_of_path(path: Path) -> str:
    """32 hex digits over a file's bytes, or over a folder's names, modes and bytes. Raises `OSError`."""
    state = blake2b(digest_size=16)
    for file in [path] if path.is_file() else sorted(_below(path)):
        state.update(f"{file.relative_to(path)}\0{file.lstat().st_mode:o}\0".encode("utf-8", "surrogateescape"))
        if file.is_symlink():
            state.update(os.fsencode(os.readlink(file)))
        elif file.is_file():
            with open(file, "rb") as handle:
                while block := handle.read(1 << 20):
                    state.update(block)
    return state.hexdigest()


def _below(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise error

    for parent, folders, names in os.walk(folder, onerror=refuse):
        yield from (Path(parent) / name for name in (*names, *folders))


def unpack(archive: Path, target: Path) -> SavedConfig:
    """Unpack a root file system or a `docker save` file into the new folder `target`."""
    try:
        with tarfile.open(archive) as tar:
            names = set(tar.getnames())
            if "manifest.json" in names:
                return _unpack_saved(tar, target)
            target.mkdir()
            _extract(tar, tar, target)
    except (tarfile.TarError, OSError, EOFError, KeyError, ValueError) as error:
        kind = "disk_full" if isinstance(error, OSError) and error.errno == 28 else "no_image"
        raise InfraError(kind, f"{archive}: cannot be unpacked: {error}") from None
    return SavedConfig()


def _unpack_saved(tar: tarfile.TarFile, target: Path) -> SavedConfig:
    manifest: Any = jsonio.loads(_member(tar, "manifest.json").read())
    entry = manifest[0]
    config: Any = jsonio.loads(_member(tar, entry["Config"]).read()).get("config") or {}
    target.mkdir()
    for name in entry["Layers"]:
        with tarfile.open(fileobj=_member(tar, name)) as layer:
            members = list(layer)
            _white_out(members, target)
            _extract(layer, (member for member in members if not _is_whiteout(member)), target)
    pairs = (item.partition("=") for item in config.get("Env") or ())
    return SavedConfig({name: value for name, _, value in pairs}, config.get("WorkingDir") or None)


def _member(tar: tarfile.TarFile, name: str) -> IO[bytes]:
    file = tar.extractfile(name)
    if file is None:
        raise ValueError(f"{name} is no file")
    return file


def _is_whiteout(member: tarfile.TarInfo) -> bool:
    return member.name.rpartition("/")[2].startswith(_WHITEOUT)


def _white_out(members: Iterable[tarfile.TarInfo], target: Path) -> None:
    """Remove what a layer says is gone. Links on the way are not followed out of `target`."""
    for member in members:
        if not _is_whiteout(member):
            continue
        folder, _, name = member.name.rpartition("/")
        parent = target / folder
        if target.resolve() not in (parent.resolve(), *parent.resolve().parents):
            continue
        gone = list(parent.iterdir()) if name == ".wh..wh..opq" and parent.is_dir() else [parent / name[4:]]
        for path in gone:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def _extract(tar: tarfile.TarFile, members: Iterable[tarfile.TarInfo], target: Path) -> None:
    """Everything but devices; the `tar` filter refuses what would land outside `target`."""
    plain = (member for member in members if not member.isdev())
    tar.extractall(target, members=plain, numeric_owner=True, filter="tar")
