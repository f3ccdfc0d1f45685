"""What packed data holds: archives, compressed streams, databases, pickles, packs of git. Pure; nothing is run.

Every opener takes bytes and yields `(name, bytes)`; it is bounded and raises nothing but `Unopened`, for what it met
and could not open, or not to its end.
"""

from __future__ import annotations

import bz2
import io
import lzma
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Protocol

import zstandard

from rubrics.preparation.stores import DAMAGED, MEMBER, MEMBERS, Piece, database, is_pickle, pack, pickled

TOTAL = 256_000_000
"""Bytes read of one container."""
_STREAMS = 2_000
"""Streams tried inside one piece of unknown data."""
_STEP, _SILENT = 4_096, 65_536
"""Bytes of such a stream that are read at once, and after which it must have said something."""
_MEMORY = 128 << 20
"""Bytes of memory that a decoder may ask for."""
_DAMAGED = (*DAMAGED, struct.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, zstandard.ZstdError)


class Unopened(Exception):
    """Why a container was not read, or not to its end."""


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = ...) -> bytes: ...


def opened(data: bytes) -> Iterator[Piece]:
    """Names (empty where there are none) and contents of what the data holds; nothing when it is no container."""
    opener = next((found for knows, found in _OPENERS if knows(data)), None)
    if opener is None:
        return
    total = 0
    try:
        for count, (name, content) in enumerate(opener(data)):
            total += len(content)
            if count >= MEMBERS or total > TOTAL:
                raise Unopened(f"holds more than {MEMBERS:,} members or {TOTAL:,} bytes")
            yield name, content
            if len(content) == MEMBER:
                raise Unopened(f"a member is larger than {MEMBER:,} bytes")
    except _DAMAGED as error:
        raise Unopened(f"cannot be read to its end ({type(error).__name__})") from None


def embedded(data: bytes, begin: int = 1) -> Iterator[bytes]:
    """Compressed streams that begin anywhere but at the start: in pickles, databases, programs, behind a header."""
    for found in islice(_STREAM.finditer(data, begin), _STREAMS):
        content = _tried(data, found.start())
        if len(content) >= 16:
            yield content


def repository_inside(name: str, data: bytes) -> bool:
    """Whether a member is part of a git folder, or data are a bundle, a pack or a stream of commits."""
    return "/.git/" in f"/{name}" or f"/{name}".endswith("/.git") or COMMITS.match(data) is not None


COMMITS = re.compile(
    rb"# v[23] git bundle\n|PACK\0\0\0[\2\3]|From [0-9a-f]{40} Mon Sep 17 00:00:00 2001\n|feature done\n"
    rb"|(?:blob|reset refs/\S+|commit refs/\S+)\nmark :\d"
)
"""How bundles, packs, mailed patches and exported streams begin, whatever they are called."""
_PACKED = re.compile(rb"# v[23] git bundle\n|PACK\0\0\0[\2\3]")
_STREAM = re.compile(
    rb"\x1f\x8b\x08|BZh[1-9]1AY&SY|\xfd7zXZ\0|\x28\xb5\x2f\xfd|PK\x03\x04|\x78[\x01\x5e\x9c\xda]|\x5d\0\0[\x08\x10-\x80]\0"
)


def _tried(data: bytes, start: int) -> bytes:
    """What a stream at this place begins with, as far as it can be read; empty when there is none."""
    head = data[start : start + 32]
    if head[:4] == b"PK\3\4":
        skipped = 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        return _as_far(zlib.decompressobj(-15), data, start + skipped) if head[8:10] == b"\x08\0" else b""
    make = _maker(head)
    return _as_far(make(), data, start) if make is not None else b""


def _as_far(decoder: _Decoder, data: bytes, start: int) -> bytes:
    """What a stream holds up to where it is damaged, or ends."""
    found, limit = bytearray(), start + _SILENT
    try:
        while start < (len(data) if found else min(limit, len(data))) and len(found) < MEMBER and not decoder.eof:
            found += decoder.decompress(data[start : start + _STEP], MEMBER - len(found))
            start += _STEP
    except _DAMAGED:
        pass
    return bytes(found)


class _Zstd:
    """A decoder of Zstandard frames with the interface of the others."""

    eof = False
    unused_data = b""

    def decompress(self, data: bytes, max_length: int = MEMBER) -> bytes:
        self.eof = True
        reader = zstandard.ZstdDecompressor(max_window_size=_MEMORY).stream_reader(
            io.BytesIO(data), read_across_frames=True
        )
        return bytes(reader.read(max_length))


def _maker(data: bytes) -> Callable[[], _Decoder] | None:
    """What decompresses data that begin like this."""
    if data.startswith(b"\x1f\x8b\x08"):
        return lambda: zlib.decompressobj(31)
    if data.startswith(b"BZh") and data[4:10] == b"1AY&SY":
        return bz2.BZ2Decompressor
    if data.startswith(b"\xfd7zXZ\0"):
        return lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _MEMORY)
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        return _Zstd
    if len(data) > 2 and data[0] & 0x8F == 8 and (data[0] << 8 | data[1]) % 31 == 0 and not data[1] & 0x20:
        return zlib.decompressobj
    if data.startswith(b"\x5d\0\0") and len(data) > 13:
        return lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE, _MEMORY)
    return None


def _stream(data: bytes) -> Iterator[Piece]:
    """A compressed file, all its parts one after another."""
    found, left = bytearray(), data
    while left and len(found) < MEMBER and (make := _maker(left)) is not None:
        decoder = make()
        found += decoder.decompress(left, MEMBER - len(found))
        left = decoder.unused_data.lstrip(b"\0")
    yield "", bytes(found)


def _zip(data: bytes) -> Iterator[Piece]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for item in archive.infolist():
            if item.flag_bits & 1:
                raise Unopened("is encrypted")
            with archive.open(item) as stream:
                yield item.filename, stream.read(MEMBER)


def _tar(data: bytes) -> Iterator[Piece]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isreg() else None
            yield member.name, content.read(MEMBER) if content else member.linkname.encode("utf-8", "surrogateescape")


def _is_tar(data: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(data[:512], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def _ar(data: bytes) -> Iterator[Piece]:
    """Members of a Debian package."""
    start = 8
    while start + 60 <= len(data):
        name, size = data[start : start + 16].decode("latin-1").strip(), int(data[start + 48 : start + 58])
        yield name, data[start + 60 : start + 60 + size]
        start += 60 + size + size % 2


def _unknown(data: bytes) -> Iterator[Piece]:
    if data:
        raise Unopened("of a form that is not opened")
    yield from ()


_OPENERS: tuple[tuple[Callable[[bytes], bool], Callable[[bytes], Iterator[Piece]]], ...] = (
    (lambda data: data[:4] in (b"PK\3\4", b"PK\5\6") or b"PK\5\6" in data[-66_000:], _zip),
    (lambda data: data[:16] == b"SQLite format 3\0", database),
    (lambda data: data[:21] == b"!<arch>\ndebian-binary", _ar),
    (lambda data: data[:1] in (b"P", b"#") and _PACKED.match(data) is not None, pack),
    (lambda data: data[:6] == b"7z\xbc\xaf\x27\x1c" or data[:4] in (b"Rar!", b"\x04\x22\x4d\x18"), _unknown),
    (lambda data: _maker(data) is not None, _stream),
    (lambda data: len(data) >= 512 and _is_tar(data), _tar),
    (is_pickle, pickled),
)  # fmt: skip
