"""A task's repository at base as a folder: from a folder, an archive or a git bundle."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tarfile
import zipfile
from pathlib import Path

from rubrics.errors import InfraError

_GIT_ENV = {
    "PATH": os.environ.get("PATH", os.defpath),
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "HOME": os.devnull,
    "GIT_AUTHOR_NAME": "base", "GIT_AUTHOR_EMAIL": "base@example.invalid", "GIT_AUTHOR_DATE": "@0 +0000",
    "GIT_COMMITTER_NAME": "base", "GIT_COMMITTER_EMAIL": "base@example.invalid", "GIT_COMMITTER_DATE": "@0 +0000",
}  # fmt: skip
_SAFE = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "init.defaultBranch=main")


def place_repository(source: Path, base_commit: str | None, target: Path) -> None:
    """Put the repository into the new folder `target`, as a git repository at base.

    A tree without history becomes one commit. A bundle is cloned and the base commit checked out; history that
    comes with an archive or a folder is left as it is, and no git of the host runs in it.
    """
    try:
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True)
        elif zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as archive:
                archive.extractall(target)
        elif tarfile.is_tarfile(source):
            with tarfile.open(source) as tar:
                tar.extractall(target, filter="data")
        else:
            _git("clone", "-q", "--no-checkout", "--no-hardlinks", "--", str(source), str(target))
            _git("-C", str(target), "checkout", "-q", "--detach", base_commit or "HEAD")
            return
    except (OSError, shutil.Error, tarfile.TarError, zipfile.BadZipFile) as error:
        kind = "disk_full" if isinstance(error, OSError) and error.errno == 28 else "no_image"
        raise InfraError(kind, f"{source}: the repository cannot be placed: {error}") from None
    _unwrap(target)
    _let_write(target)
    if not (target / ".git").exists():
        _git("init", "-q", str(target))
        _git("-C", str(target), "add", "-A", "-f")
        _git("-C", str(target), "commit", "-q", "--allow-empty", "-m", "base")


def _unwrap(target: Path) -> None:
    """An archive whose one entry is a folder stands for that folder."""
    inner = list(target.iterdir())
    if len(inner) == 1 and inner[0].is_dir() and not inner[0].is_symlink() and inner[0].name != ".git":
        aside = target.with_name(f"{target.name}.inner")
        inner[0].rename(aside)
        target.rmdir()
        aside.rename(target)


def _let_write(target: Path) -> None:
    """A rollout writes what its owner may have kept read-only, in a sandbox whose root has no capabilities."""
    for folder, folders, files in os.walk(target):
        for path in (folder, *(os.path.join(folder, name) for name in (*folders, *files))):
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
                os.chmod(path, stat.S_IMODE(mode) | (0o700 if stat.S_ISDIR(mode) else 0o600))


def _git(*arguments: str) -> None:
    done = subprocess.run(["git", *_SAFE, *arguments], env=_GIT_ENV, capture_output=True, text=True)
    if done.returncode != 0:
        raise InfraError(
            "no_image", f"git {arguments[0]}: {done.stderr.strip()[-300:]}; check repository and base_commit"
        )
