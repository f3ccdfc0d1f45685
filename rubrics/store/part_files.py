"""One part as a file: its name, what it says of itself, and whether its bytes are those that were written.

A part's name ends in the digest of its bytes, so the manifest, which lists names, holds a digest of every part, and
a part can be checked without it. In its metadata a part says which table, stage and commit it is of; the last part of
a version also says which parts make the version, and which tables were committed together (`Closing`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rubrics import __version__
from rubrics.errors import StoreError
from rubrics.store.schema import FORMAT_MAJOR, TABLES

PART = re.compile(
    r"tables/(?P<table>[a-z_]+)/(?P<run>[0-9a-f]+)-(?P<number>[0-9]+)(?:-(?P<digest>[0-9a-f]{32}))?\.parquet"
)
"""What a part may be called: views are made of these names, so none may leave the store or stand for several files.
Parts that earlier versions wrote have no digest."""

_SETTLED = 2.0
"""Seconds after its last change from which a file's times tell it from a later change."""
_MAGIC = b"PAR1"


@dataclass(frozen=True, slots=True)
class Closing:
    """What the last part of a version says of the version."""

    parts: int
    """Parts that its own run wrote, this one among them."""
    carried: tuple[str, ...]
    """Parts of earlier runs, as paths relative to the store."""
    tables: tuple[str, ...]
    """The tables that were committed together."""


@dataclass(frozen=True, slots=True)
class Label:
    """What a part says of itself."""

    table: str
    stage: str
    commit: int
    """Number of the commit in its store, from 1; 0: written before parts said so."""
    rows: int
    closing: Closing | None
    format: int


def metadata(table: str, stage: str, commit: int) -> dict[str, str]:
    """What every part says: format and version of the program, and where it belongs."""
    return {
        "rubrics.format": str(FORMAT_MAJOR),
        "rubrics.version": __version__,
        "rubrics.table": table,
        "rubrics.stage": stage,
        "rubrics.commit": str(commit),
    }


def closing_metadata(closing: Closing) -> dict[str, str]:
    """What the last part of a version says beside."""
    said = {"parts": closing.parts, "carried": closing.carried, "tables": closing.tables}
    return {"rubrics.closes": json.dumps(said)}


def label_of(path: Path) -> Label | None:
    """What a part says of itself; null when it cannot be read, or says nothing that can be understood."""
    try:
        found = pq.read_metadata(path)
        said: Mapping[bytes, bytes] = found.metadata or {}
        table = said[b"rubrics.table"].decode()
        closing = _closing(table, said[b"rubrics.closes"]) if b"rubrics.closes" in said else None
        commit = int(said.get(b"rubrics.commit", b"0"))
        major = int(said.get(b"rubrics.format", b"1"))
        return Label(table, said.get(b"rubrics.stage", b"").decode(), commit, found.num_rows, closing, major)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, pa.ArrowException):
        return None


def _closing(table: str, text: bytes) -> Closing:
    said = json.loads(text)
    for part in said["carried"]:
        match = PART.fullmatch(part)
        if match is None or match["table"] != table:
            raise ValueError(f"{part!r} is no part of table {table}")
    return Closing(int(said["parts"]), tuple(said["carried"]), tuple(map(str, said["tables"])))


def digest_of(path: Path) -> str:
    """32 hex digits over a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, _new_digest).hexdigest()


def _new_digest() -> hashlib.blake2b:
    return hashlib.blake2b(digest_size=16)


def fault_of(root: Path, part: str) -> str | None:
    """What is wrong with a part, as the end of a sentence; null when its bytes are those that were written.

    A process reads a part's bytes once for this; afterwards it looks at size and times, unless the file was changed so
    short a time before that these prove nothing. Of a part without a digest only its two ends are looked at. Raises
    `PermissionError`.
    """
    path = root / part
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return "is no regular file"
        named = PART.fullmatch(part)
        digest = named["digest"] if named else None
        if digest is None:
            return None if _has_both_ends(path) else "is cut short, or no Parquet file"
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


def check_parts(root: Path, table: str, parts: tuple[str, ...]) -> None:
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
