"""Whatever a text is written down as is undone, within bounds; and a trace of it is found where it stands."""

from __future__ import annotations

import gzip
import io
import random
import zipfile
import zlib
from typing import Any

import pytest
from forms import FORMS, PACKED, TEXTUAL, tar, zipped
from hypothesis import given
from hypothesis import strategies as st
from leak_places import ALIKE, TEXT
from leaks import ANSWER, SECRETS

from rubrics.preparation import containers, decoding
from rubrics.preparation.containers import Unopened, opened
from rubrics.preparation.decoding import readings
from rubrics.preparation.traces import PACKED_TRACES, traces

LINE = ANSWER.strip()
KEY = LINE.encode()
SEEN_AS_PACKED = ("base64_of_gzip", "base64_of_xz_in_lines", "hex_of_gzip")
NO_TRACE = ("base64_twice", "base64_of_utf16", "base64_reversed", "hex_of_base64", "octal_escapes", "unicode_escapes",
            "coloured", "highlighted")  # fmt: skip
"""Texts that `grep` cannot tell: where nobody owns them they are read whatever they are."""


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_undone(form: str) -> None:
    assert any(KEY in reading.data for reading in readings(FORMS[form](TEXT)))


@pytest.mark.parametrize("form", FORMS)
def test_a_form_within_a_form_is_undone(form: str) -> None:
    data = FORMS[form](TEXT)
    assert any(KEY in reading.data for reading in readings(gzip.compress(data)))
    assert any(KEY in reading.data for reading in readings(zipped(b"see: " + FORMS["base64"](TEXT), "a/b")))


@pytest.mark.parametrize("form", [form for form in TEXTUAL if form not in NO_TRACE])
def test_a_trace_of_a_line_stands_in_every_text_that_grep_can_tell(form: str) -> None:
    data = TEXTUAL[form](TEXT)
    patterns = PACKED_TRACES if form in SEEN_AS_PACKED else tuple(traces(LINE))
    assert any(pattern in data for pattern in patterns)


def test_traces_are_short_and_have_no_newline() -> None:
    for line in (LINE, "x" * 20, "größe = é" * 5, "a\tb" * 10, "'\"\\" * 9):
        found = list(traces(line))
        assert all(b"\n" not in item and len(item) >= 8 for item in found)
        assert sum(map(len, found)) < 60 * len(line.encode()) + 1_000


@pytest.mark.parametrize("text", ALIKE)
@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_read_that_was_not_written(text: str, form: str) -> None:
    secrets = [secret.encode() for secret in SECRETS]
    told = [reading.how for reading in readings(FORMS[form](ALIKE[text])) if any(s in reading.data for s in secrets)]
    assert told == []


def test_a_bomb_ends_at_its_bounds_and_is_said_not_to_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "MEMBER", 100_000)
    monkeypatch.setattr(containers, "MEMBERS", 50)
    monkeypatch.setattr(decoding, "BYTES", 1_000_000)
    bomb = gzip.compress(gzip.compress(bytes(50_000_000)))
    crowd = io.BytesIO()
    with zipfile.ZipFile(crowd, "w") as archive:
        for number in range(200):
            archive.writestr(str(number), b"x" * 1_000)
    nested = b"x" * 100
    for _ in range(30):
        nested = zipped(nested)
    for data, said in ((bomb, "larger than"), (crowd.getvalue(), "more than"), (nested, "")):
        unopened: set[str] = set()
        read = list(readings(data, unopened))
        assert sum(len(reading.data) for reading in read) <= 2_000_000
        assert any(said in why for why in unopened) or not said


def test_what_is_encrypted_damaged_or_unknown_is_said_not_to_be_read() -> None:
    whole = zipped(TEXT.encode())
    locked = bytearray(whole)
    locked[6] |= 1
    locked[whole.index(b"PK\1\2") + 8] |= 1
    cut = gzip.compress(TEXT.encode() * 50)[:-30]
    for data, said in ((bytes(locked), "encrypted"), (b"7z\xbc\xaf\x27\x1c" + bytes(50), "not opened"),
                       (whole[:-30], ""), (cut, "")):  # fmt: skip
        unopened: set[str] = set()
        read = list(readings(data, unopened))
        assert any(said in why for why in unopened) if said else any(KEY in reading.data for reading in read)


def test_an_archive_is_read_on_as_far_as_it_can_be() -> None:
    damaged = tar(TEXT.encode()) + tar(b"more")[:700]
    with pytest.raises(Unopened):
        list(opened(b"PK\3\4" + bytes(100)))
    assert any(KEY in content for _, content in opened(damaged))


def test_a_database_that_would_run_something_does_not(tmp_path: Any) -> None:
    import sqlite3

    store = sqlite3.connect(tmp_path / "x")
    store.execute("CREATE TABLE a (b)")
    store.execute("INSERT INTO a VALUES (1)")
    store.execute(
        "CREATE VIEW c AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"
    )
    store.execute("CREATE VIRTUAL TABLE d USING fts5(e)")
    store.commit()
    store.close()
    list(readings((tmp_path / "x").read_bytes()))


SIGNS = ["a", "=\n", "\\x41", "%41", "&lt;", "<b>", "\x1b[0m", "41 ", "0x41, ", "65, ", "A" * 20, "+/", "M" + " " * 60,
         "\n", "00000000: 4141 ", "\\", "'", "\x1f\x8b\x08", "PK\x03\x04", "x\x9c", "BZh91AY&SY", "~", "<~", "(dp0\n",
         "\0"]  # fmt: skip


@given(st.lists(st.sampled_from(SIGNS), max_size=60), st.integers(1, 40))
def test_no_mixture_of_signs_breaks_the_reading_or_makes_it_large(signs: list[str], times: int) -> None:
    data = ("".join(signs) * times).encode("latin-1")
    assert sum(len(reading.data) for reading in readings(data)) <= 60 * (len(data) + 100)


@pytest.mark.parametrize("form", FORMS)
def test_a_damaged_file_breaks_nothing(form: str) -> None:
    chance = random.Random(form)
    data = FORMS[form](TEXT)
    for _ in range(20):
        broken = bytearray(data[: chance.randrange(len(data) + 1)])
        for _ in range(3):
            if broken:
                broken[chance.randrange(len(broken))] = chance.randrange(256)
        list(readings(bytes(broken)))


def test_streams_inside_other_data_are_found_up_to_where_they_are_damaged() -> None:
    block = zlib.compress(TEXT.encode() * 3)
    assert PACKED["own_format"](TEXT) not in (block,)
    torn = b"HEAD\0\1\2\3" + block[:-9] + b"\xff" * 40
    assert any(KEY in reading.data for reading in readings(torn))
