"""Ways in which a text is written down in a file: encoded, escaped, packed, put into a database. Each made by means of
its own, none of the package's."""

from __future__ import annotations

import base64
import binascii
import bz2
import codecs
import dbm.dumb
import gzip
import html
import io
import json
import lzma
import marshal
import os
import pickle
import quopri
import sqlite3
import struct
import tarfile
import tempfile
import urllib.parse
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy
import zstandard

Form = Callable[[str], bytes]


def _lines(data: bytes, width: int) -> bytes:
    return b"\n".join(data[start : start + width] for start in range(0, len(data), width)) + b"\n"


def _rows(data: bytes, row: Callable[[int, bytes], str]) -> bytes:
    return "\n".join(row(start, data[start : start + 16]) for start in range(0, len(data), 16)).encode() + b"\n"


def _shown(data: bytes) -> str:
    return "".join(chr(value) if 32 <= value < 127 else "." for value in data)


def _words(data: bytes) -> str:
    return " ".join(data[start : start + 2].hex() for start in range(0, len(data), 2))


def uuencoded(text: str) -> bytes:
    data = text.encode()
    lines = (binascii.b2a_uu(data[start : start + 45]) for start in range(0, len(data), 45))
    return b"begin 644 notes\n" + b"".join(lines) + b"`\nend\n"


def tar(data: bytes, name: str = "notes", mode: str = "w") -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:  # type: ignore[call-overload]
        item = tarfile.TarInfo(name)
        item.size = len(data)
        archive.addfile(item, io.BytesIO(data))
    return made.getvalue()


def zipped(data: bytes, name: str = "notes") -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return made.getvalue()


def package(text: str) -> bytes:
    """A Debian package: an `ar` archive of archives."""
    parts = {"debian-binary": b"2.0\n", "data.tar.xz": tar(text.encode(), "./usr/share/notes", "w:xz")}
    made = b"!<arch>\n"
    for name, data in parts.items():
        made += (
            f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
        )
    return made


def database(*values: bytes | str, utf16: bool = False, deleted: bool = False) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        store = sqlite3.connect(Path(folder) / "x")
        if utf16:
            store.execute("PRAGMA encoding = 'UTF-16le'")
        store.execute("PRAGMA secure_delete = OFF")
        store.execute("CREATE TABLE notes (id INTEGER, kept)")
        store.executemany("INSERT INTO notes VALUES (?, ?)", enumerate(values))
        store.commit()
        if deleted:
            store.execute("DELETE FROM notes")
            store.commit()
        store.close()
        return (Path(folder) / "x").read_bytes()


def journal(text: str) -> bytes:
    """The log beside a database, in which the last commit stands."""
    with tempfile.TemporaryDirectory() as folder:
        store = sqlite3.connect(Path(folder) / "x")
        store.execute("PRAGMA journal_mode = WAL")
        store.execute("CREATE TABLE notes (kept)")
        store.execute("INSERT INTO notes VALUES (?)", (text,))
        store.commit()
        data = (Path(folder) / "x-wal").read_bytes()
        store.close()
        return data


def shelf(text: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        with dbm.dumb.open(f"{folder}/x", "c") as store:
            store["notes"] = zlib.compress(text.encode())
        return (Path(folder) / "x.dat").read_bytes()


def array(text: str) -> bytes:
    made = io.BytesIO()
    numpy.save(made, numpy.array(text.splitlines()))
    return made.getvalue()


def arrays(text: str) -> bytes:
    made = io.BytesIO()
    numpy.savez_compressed(made, notes=numpy.array(text.splitlines()))
    return made.getvalue()


def coloured(text: str) -> bytes:
    """As a terminal shows code: every word in its colour."""
    return (
        "".join(f"\x1b[3{len(word) % 8}m{word}\x1b[0m " for word in text.split(" "))
        .replace("[0m \x1b", "[0m \x1b")
        .encode()
    )


def highlighted(text: str) -> bytes:
    """As a page shows code: every word in an element of its own."""
    return " ".join(f'<span class="n">{html.escape(word)}</span>' for word in text.split(" ")).encode()


def notebook(text: str) -> bytes:
    cells = [{"cell_type": "code", "outputs": [{"text": text.splitlines(keepends=True)}], "source": []}]
    return json.dumps({"cells": cells, "nbformat": 4}).encode()


def mail(text: str) -> bytes:
    head = (
        b"From a Mon Sep 17 10:00:00 2001\nSubject: rounding\nMIME-Version: 1.0\nContent-Transfer-Encoding: base64\n\n"
    )
    return head + base64.encodebytes(text.encode())


def program(text: str) -> bytes:
    """A Python file that holds it as base64, in short strings."""
    run = base64.b64encode(text.encode()).decode()
    return ("DATA = (\n" + "".join(f"    '{run[i : i + 50]}'\n" for i in range(0, len(run), 50)) + ")\n").encode()


def wire(text: str) -> bytes:
    """Some program's own format: a header, then a compressed block, then a checksum."""
    block = zlib.compress(text.encode())
    return b"TOOL\x00\x01" + struct.pack("<I", len(block)) + block + struct.pack("<I", zlib.crc32(block))


TEXTUAL: dict[str, Form] = {
    "plain": lambda text: text.encode(),
    "base64": lambda text: base64.b64encode(text.encode()),
    "base64_in_lines": lambda text: base64.encodebytes(text.encode()),
    "base64_for_addresses": lambda text: base64.urlsafe_b64encode(text.encode()).rstrip(b"="),
    "base64_under_a_name": lambda text: b"the_payload_of_this_tool:\n" + _lines(base64.b64encode(text.encode()), 64),
    "base64_in_a_value": lambda text: json.dumps({"blob": base64.encodebytes(text.encode()).decode()}).encode(),
    "base64_of_gzip": lambda text: base64.b64encode(gzip.compress(text.encode())),
    "base64_of_xz_in_lines": lambda text: base64.encodebytes(lzma.compress(text.encode())),
    "base64_twice": lambda text: base64.encodebytes(base64.encodebytes(text.encode())),
    "base64_of_utf16": lambda text: base64.b64encode(text.encode("utf-16-le")),
    "base64_reversed": lambda text: base64.b64encode(text.encode())[::-1],
    "base64_in_a_program": program,
    "base32": lambda text: _lines(base64.b32encode(text.encode()), 76),
    "base85": lambda text: base64.b85encode(text.encode()),
    "ascii85": lambda text: base64.a85encode(text.encode(), adobe=True, wrapcol=72),
    "hex": lambda text: text.encode().hex().encode(),
    "hex_in_lines": lambda text: _lines(text.encode().hex().encode(), 60),
    "hex_of_gzip": lambda text: gzip.compress(text.encode()).hex().encode(),
    "hex_of_base64": lambda text: base64.b64encode(text.encode()).hex().encode(),
    "hex_with_blanks": lambda text: _lines(text.encode().hex(" ").upper().encode(), 48),
    "hexdump": lambda text: _rows(text.encode(), lambda at, row: f"{at:08x}  {row.hex(' ', 1)}  |{_shown(row)}|"),
    "xxd": lambda text: _rows(text.encode(), lambda at, row: f"{at:08x}: {_words(row):39}  {_shown(row)}"),
    "hex_escapes": lambda text: "".join(f"\\x{value:02x}" for value in text.encode()).encode(),
    "octal_escapes": lambda text: "".join(f"\\{value:03o}" for value in text.encode()).encode(),
    "hex_numbers": lambda text: ", ".join(f"0x{value:02x}" for value in text.encode()).encode(),
    "numbers": lambda text: str(list(text.encode())).encode(),
    "reversed": lambda text: text[::-1].encode(),
    "reversed_lines": lambda text: "\n".join(line[::-1] for line in text.splitlines()).encode(),
    "rot13": lambda text: codecs.encode(text, "rot13").encode(),
    "percent": lambda text: urllib.parse.quote(text).encode(),
    "form_values": lambda text: urllib.parse.urlencode({"patch": text}).encode(),
    "html": lambda text: f"<pre>{html.escape(text)}</pre>".encode(),
    "highlighted": highlighted,
    "quoted_printable": lambda text: quopri.encodestring(text.encode()),
    "json": lambda text: json.dumps({"patch": text}).encode(),
    "json_in_json": lambda text: json.dumps({"message": json.dumps({"patch": text})}).encode(),
    "unicode_escapes": lambda text: "".join(f"\\u{ord(sign):04x}" for sign in text).encode(),
    "coloured": coloured,
    "uuencoded": uuencoded,
    "mail": mail,
    "notebook": notebook,
}  # fmt: skip
PACKED: dict[str, Form] = {
    "utf16": lambda text: text.encode("utf-16"),
    "utf16_big_endian": lambda text: text.encode("utf-16-be"),
    "utf32": lambda text: text.encode("utf-32"),
    "gzip": lambda text: gzip.compress(text.encode()),
    "gzip_in_parts": lambda text: gzip.compress(b"first") + gzip.compress(text.encode()),
    "bzip2": lambda text: bz2.compress(text.encode()),
    "xz": lambda text: lzma.compress(text.encode()),
    "lzma": lambda text: lzma.compress(text.encode(), format=lzma.FORMAT_ALONE),
    "zlib": lambda text: zlib.compress(text.encode()),
    "zlib_quick": lambda text: zlib.compress(text.encode(), 1),
    "zstd": lambda text: zstandard.compress(text.encode()),
    "gzip_of_base64": lambda text: gzip.compress(base64.encodebytes(text.encode())),
    "zip": lambda text: zipped(text.encode()),
    "zip_in_zip": lambda text: zipped(zipped(text.encode())),
    "zip_behind_a_program": lambda text: b"#!/bin/sh\nexit 0\n" + zipped(text.encode()),
    "tar": lambda text: tar(text.encode()),
    "tar_gz": lambda text: tar(text.encode(), mode="w:gz"),
    "tar_xz": lambda text: tar(text.encode(), mode="w:xz"),
    "tar_gz_in_zip": lambda text: zipped(tar(text.encode(), mode="w:gz")),
    "tar_zst": lambda text: zstandard.compress(tar(text.encode())),
    "debian_package": package,
    "pickle_0": lambda text: pickle.dumps({"patch": text}, 0),
    "pickle_2": lambda text: pickle.dumps({"patch": text}, 2),
    "pickle_5": lambda text: pickle.dumps({"patch": text.splitlines()}, 5),
    "pickle_of_zlib": lambda text: pickle.dumps({"patch": zlib.compress(text.encode())}),
    "pickle_of_gzip": lambda text: pickle.dumps([gzip.compress(text.encode())], 3),
    "pickle_of_utf16": lambda text: pickle.dumps(text.encode("utf-16-le"), 4),
    "pickle_in_gzip": lambda text: gzip.compress(pickle.dumps(text)),
    "marshal_of_zlib": lambda text: marshal.dumps({"patch": zlib.compress(text.encode())}),
    "array": array,
    "arrays": arrays,
    "shelf": shelf,
    "database": lambda text: database(text),
    "database_of_zlib": lambda text: database(zlib.compress(text.encode())),
    "database_of_zlib_over_pages": lambda text: database(zlib.compress((os.urandom(9_000).hex() + text).encode())),
    "database_of_gzip": lambda text: database("x", gzip.compress(text.encode())),
    "database_of_base64": lambda text: database(base64.b64encode(text.encode()).decode()),
    "database_in_utf16": lambda text: database(text, utf16=True),
    "database_after_deleting": lambda text: database(zlib.compress(text.encode()), deleted=True),
    "journal_of_a_database": journal,
    "own_format": wire,
}  # fmt: skip
FORMS = TEXTUAL | PACKED
