"""One part as a file: its name, and whether its bytes are those that were written.

A part is named after the digest of its bytes, so the manifest, which lists names, holds a digest of every part; the
same rows make the same part, whoever writes them and however often.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rubrics import __version__
from rubrics.errors import StoreError
from rubrics.store.schema import FORMAT_MAJOR, TABLES

PART = re.compile(r"tables/(?P<table>[a-z_]+)/(?P<digest>[0-9a-f]{32})\.parquet")
"""What a part may be called: views are made of these names, so none may leave the store or stand for several files."""

_SETTLED = 2.0
"""Seconds after its last change from which a file's times tell it from a later change."""
_MAGIC = b"PAR1"


def metadata(table: str) -> dict[str, str]:
    """What every part says of itself: format and version of the program, and its table."""
    return {"rubrics.format": str(FORMAT_MAJOR), "rubrics.version": __version__, "rubrics.table": table}


def version_of(path: Path) -> str | None:
    """The version of the program that wrote a part; null when it cannot be read."""
    try:
        said: dict[bytes, bytes] = pq.read_metadata(path).metadata or {}
        return said[b"rubrics.version"].decode()
    except (OSError, ValueError, KeyError, pa.ArrowException):
        return None


def digest_of(path: Path) -> str:
    """32 hex digits over a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, _new_digest).hexdigest()


def _new_digest() -> hashlib.blake2b:
    return hashlib.blake2b(digest_size=16)


def fault_of(root: Path, part: str) -> str | None:
    """What is wrong with a part, as the end of a sentence; null when its bytes are those that were written.

    A process reads a part's bytes once for this; afterwards it looks at size and times, unless the file was changed so
    short a time before that these prove nothing. Raises `PermissionError`.
    """
    path = root / part
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return "is no regular file"
        named = PART.fullmatch(part)
        digest = named["digest"] if named else None
        if digest is None:
            return "is no name of a part"
        stamp = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        settled = time.time_ns() - found.st_ctime_ns > _SETTLED * 1e9
        if (_known_digest(path, stamp) if settled else digest_of(path)) == digest:
            return None
        return "is not what was written: damaged, or replaced" if _has_both_ends(path) else "is cut short, or damaged"
    except (FileNotFoundError, NotADirectoryError):
        return "is not there"
    except PermissionError:
        raise  # nothing is wrong with the part
    except OSError as error:
        return f"cannot be read ({error.strerror})"


@lru_cache(maxsize=1 << 16)
def _known_digest(path: Path, stamp: tuple[int, ...]) -> str:
    """The digest of a file that has these times and this size."""
    return digest_of(path)


def _has_both_ends(path: Path) -> bool:
    with open(path, "rb") as file:
        start = file.read(len(_MAGIC))
        if file.seek(0, 2) < 3 * len(_MAGIC):
            return False
        file.seek(-len(_MAGIC), 2)
        return start == file.read() == _MAGIC


def check_parts(root: Path, table: str, parts: Sequence[str]) -> None:
    """Raises `StoreError` for the first part of a table that is not what was written, with the way out."""
    for part, fault in zip(parts, faults_of(root, parts), strict=True):
        if fault is not None:
            raise StoreError(f"{root}: table {table}: its part {part} {fault}; {remedy(table)}")


def faults_of(root: Path, parts: Sequence[str]) -> list[str | None]:
    """The same of many parts, on every core: digests are made outside the interpreter's lock."""
    if len(parts) < 2:
        return [fault_of(root, part) for part in parts]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(partial(fault_of, root), parts))


def remedy(table: str) -> str:
    """What to do about a table that is damaged."""
    return (
        "put it back from a copy, let `rubrics repair` take the newest version of the table that is whole, run "
        f"`{TABLES[table].made_by}`, or make the store again"
    )
