"""What archives hold, read in this process, in memory and bounded; nothing is unpacked onto any disk."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator

NAMES = (
    "*.zip",
    "*.whl",
    "*.egg",
    "*.jar",
    "*.tar",
    "*.tar.*",
    "*.tgz",
    "*.tbz2",
    "*.txz",
    "*.gz",
    "*.bz2",
    "*.xz",
    "*.conda",
    "*.crate",
)
MEMBER = 4_000_000
"""Bytes read of one member."""
TOTAL = 256_000_000
"""Bytes read of one archive."""
MEMBERS = 20_000


def members(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Names and beginnings of what an archive holds; a compressed file is one member without a name.

    Raises `ValueError` when it is no archive, is damaged or goes beyond the bounds.
    """
    try:
        yield from _bounded(_members(data))
    except (OSError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, RuntimeError,
            NotImplementedError, KeyError) as error:  # fmt: skip
        raise ValueError(f"cannot be read: {type(error).__name__}") from None


def _members(data: bytes) -> Iterator[tuple[str, bytes]]:
    if data[:4] in (b"PK\3\4", b"PK\5\6"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for item in archive.infolist():
                with archive.open(item) as stream:
                    yield item.filename, stream.read(MEMBER)
        return
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r|*") as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isreg() else None
                yield member.name, content.read(MEMBER) if content else b""
    except tarfile.ReadError:
        yield "", _plain(data)


def _plain(data: bytes) -> bytes:
    source = io.BytesIO(data)
    if data.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=source).read(MEMBER)
    if data.startswith(b"BZh"):
        return bz2.BZ2File(source).read(MEMBER)
    if data.startswith(b"\xfd7zXZ"):
        return lzma.LZMAFile(source).read(MEMBER)
    raise ValueError("is no archive")


def _bounded(items: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    total = 0
    for count, (name, content) in enumerate(items):
        total += len(content)
        if count >= MEMBERS or total > TOTAL:
            raise ValueError(f"holds more than {MEMBERS} members or {TOTAL} bytes")
        yield name, content
