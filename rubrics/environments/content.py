"""What a file or folder of the user holds, as a digest; worked out once for as long as nothing in it changes.

Reading a root file system of gigabytes takes a while, listing it does not. So the digest of the content is kept under
one of the listing: names, kinds, modes, owners, sizes, times of change and inodes. A change that leaves all of these
as they were would go unseen; but the kernel sets the time of change, no program sets it back, and what has changed a
moment ago is read each time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from hashlib import blake2b
from itertools import chain
from pathlib import Path

from rubrics.environments.archives import digest_of_path
from rubrics.environments.state import State
from rubrics.errors import InfraError

SETTLED = 2_000_000_000
"""Nanoseconds after which a later change has another time, whatever steps the file system counts it in."""


def content_digest(source: Path, state: State) -> str:
    """32 hex digits over a file's bytes, or a folder's names, modes and bytes. Raises `InfraError` for one that cannot
    be read."""
    try:
        listed, changed = _listing(source)
        note = state.images / f"content-{listed}"
        if note.is_file():
            return note.read_text("ascii")
        digest = digest_of_path(source)
        if time.time_ns() - changed < SETTLED:
            return digest
        aside = state.new_folder() / "digest"
        aside.write_text(digest, "ascii")
        os.replace(aside, note)
    except OSError as error:
        raise InfraError("no_image", f"{source}: cannot be read: {error.strerror}") from None
    return digest


def _listing(source: Path) -> tuple[str, int]:
    """32 hex digits over what the kernel says of a file, or of everything in a folder; when any of it changed last."""
    state, changed = blake2b(digest_size=16), 0
    for path, found in chain([(str(source), source.stat())], _listed(source)):
        changed = max(changed, found.st_ctime_ns)
        fields = (found.st_mode, found.st_uid, found.st_gid, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        state.update(f"{path}\0{fields}{found.st_ino}\0".encode("utf-8", "surrogateescape"))
    return state.hexdigest(), changed


def _listed(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    if not folder.is_dir():
        return
    ahead = [str(folder)]
    while ahead:
        here = ahead.pop()
        with os.scandir(here) as entries:
            for entry in sorted(entries, key=lambda item: item.name):
                yield entry.path, entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    ahead.append(entry.path)
