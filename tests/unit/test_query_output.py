"""What a query gives: rows that fit any width for people, and forms that programs read back as they were."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from rubrics.cli import reading
from rubrics.cli.tables import fitted, print_table
from rubrics.errors import UsageError
from rubrics.store.output import FORMATS, write_output, write_text
from rubrics.store.store import Store

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def written(table: pa.Table, form: str) -> str:
    stream = io.StringIO()
    write_text(table, stream, form, lambda text: text)
    return stream.getvalue()


def query(store: Store, *words: str, code: int = 0, **env: str) -> str:
    command = [sys.executable, "-m", "rubrics", "query", *words, "--store", str(store.paths.root)]
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


# For people


@pytest.mark.parametrize("width", [12, 20, 40, 60, 80, 100, 132, 240, 1000])
def test_no_line_is_wider_than_the_output_and_every_value_stands_there(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], sample_store: Store
) -> None:
    """The first example of the command's help printed an empty table at 100 columns, others were one letter wide."""
    monkeypatch.setenv("COLUMNS", str(width))
    rows = sample_store.query("FROM rewards WHERE status <> 'ok'").to_pylist()
    assert rows
    print_table(rows)
    said = capsys.readouterr().out
    assert max(map(cell_len, said.splitlines())) <= width
    for row in rows:
        for value in (row["rollout_id"], row["failure_class"], row["task_id"]):
            assert value in (said if width >= 60 else "".join(said.split()))


@pytest.mark.parametrize("sql", ["FROM rewards WHERE status <> 'ok'", "FROM census_totals", "FROM tasks", "SELECT 1"])
def test_the_command_prints_them_so(sample_store: Store, sql: str) -> None:
    for width in ("40", "100"):
        said = query(sample_store, sql, COLUMNS=width)
        assert max(map(cell_len, said.splitlines())) <= int(width)
        assert len(said) > 5


WIDE = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.sampled_from(
    ["漢字" * 40, "e\u0301" * 20, "\x1b[31m", "a\nb", "👩‍👩‍👧" * 9, "\u202e", "x" * 1000]
)


@given(st.lists(st.dictionaries(st.sampled_from("abcdefgh"), WIDE, min_size=8), min_size=1, max_size=4), st.data())
@settings(max_examples=60, deadline=None)
def test_any_values_fit_any_width(rows: list[dict[str, str]], data: Any) -> None:
    width = data.draw(st.integers(10, 200))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("COLUMNS", str(width))
        out = io.StringIO()
        patched.setattr(sys, "stdout", out)
        print_table([{name: row[name] for name in sorted(row)} for row in rows])
    said = out.getvalue()
    assert max((cell_len(line) for line in said.split("\n")), default=0) <= width
    assert said.replace("\n", "").isprintable()


@given(st.lists(st.integers(0, 500), min_size=1, max_size=12), st.integers(0, 300))
def test_widths_use_the_room_and_no_more(natural: list[int], room: int) -> None:
    widths = fitted(natural, room)
    if widths is None:
        assert sum(min(wanted, 16) for wanted in natural) > room
        return
    assert sum(widths) <= room
    assert all(min(wanted, 16) <= width <= wanted for wanted, width in zip(natural, widths, strict=True))
    assert sum(widths) == min(room, sum(natural)) or sum(natural) - sum(widths) > 0


def test_at_most_forty_rows_are_printed_and_the_others_counted(sample_store: Store) -> None:
    said = query(sample_store, "SELECT range AS n FROM range(1000)")
    assert "39" in said
    assert "40 " not in said.split("...")[0].replace("\n", " ").split("39")[1]
    assert said.rstrip().endswith("... and 960 rows more, of 1000: --output FILE writes all")
    assert "more" not in query(sample_store, "SELECT range AS n FROM range(40)")
    assert query(sample_store, "SELECT 1 WHERE false") == "(no rows)\n"


# CSV

FORMULAS = [
    '=HYPERLINK("http://x")', "=1+1", "+1+1", "-1+1", "@SUM(1)", "=cmd|' /C calc'!A0", "\t=1", "\r=1", "\n=1",
    " =1", "  +x", "\u00a0=1", "\ufeff=1", "\u200b=1", "\uff1d1", "\uff0b1", "\uff0dx", "\uff20x", "-", "+",
    "=", "@", "-0.5x", "1e5=", "-.", "--1",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_a_spreadsheet_would_compute_gets_an_apostrophe(text: str) -> None:
    (header, (cell,)) = csv.reader(io.StringIO(written(pa.table({"a": [text]}), "csv"), newline=""))
    assert header == ["a"]
    assert cell == (text if text == "1e5=" else f"'{text}")


@pytest.mark.parametrize("text", ["-0.5", "+3", "-1e-7", "1.", "-.5", "plain", "a=b", "x-y", "", "'", "5 - 3", "a@b.c"])
def test_numbers_and_plain_texts_stay_as_they_are(text: str) -> None:
    (_, (cell,)) = csv.reader(io.StringIO(written(pa.table({"a": [text]}), "csv"), newline=""))
    assert cell == text


def test_values_that_are_no_texts_stay_numbers() -> None:
    table = pa.table({"i": [-5, None], "f": [-0.5, math.nan], "b": [True, None], "l": [["=x", "b"], None]})
    assert list(csv.reader(io.StringIO(written(table, "csv")))) == [
        ["i", "f", "b", "l"], ["-5", "-0.5", "True", '["=x", "b"]'], ["", "", "", ""]
    ]  # fmt: skip


def test_names_of_columns_are_escaped_too(sample_store: Store) -> None:
    said = query(sample_store, 'SELECT 1 AS "=cmd()"', "--format", "csv")
    assert said == "'=cmd()\n1\n"


@pytest.mark.parametrize("text", ["a;=cmd()", 'a";=cmd()', "a\t=cmd()", "a,=cmd()", "a\n=cmd()"])
def test_a_separator_of_another_locale_does_not_begin_a_cell_outside_quotes(text: str) -> None:
    said = written(pa.table({"a": [text]}), "csv")
    assert said.split("\n", 1)[1].startswith('"')


@given(st.lists(st.tuples(TEXT, st.none() | st.integers(-(2**62), 2**62), TEXT), max_size=6))
@settings(max_examples=200, deadline=None)
def test_csv_comes_back_as_it_was_but_for_the_apostrophes(rows: list[tuple[str, int | None, str]]) -> None:
    table = pa.table({name: [row[i] for row in rows] for i, name in enumerate(("a", "b", "c"))})
    found = list(csv.reader(io.StringIO(written(table, "csv"), newline="")))
    assert len(found) == len(rows) + 1
    for (a, b, c), cells in zip(rows, found[1:], strict=True):
        assert cells[1] == ("" if b is None else str(b))
        for text, cell in ((a, cells[0]), (c, cells[2])):
            assert cell in (text, f"'{text}")
            assert not cell.lstrip().startswith(("=", "@"))


# Other forms


def test_json_lines_json_and_markdown(sample_store: Store) -> None:
    sql = "SELECT 'a|b' || chr(10) || '<i>' AS t, -0.5 AS f, NULL AS n, [1] AS l, 'nan'::DOUBLE AS x, sum(3) AS s"
    record = {"t": "a|b\n<i>", "f": -0.5, "n": None, "l": [1], "x": None, "s": 3}
    assert json.loads(query(sample_store, sql, "--format", "jsonl")) == record
    assert json.loads(query(sample_store, sql, "--format", "json")) == [record]
    assert json.loads(query(sample_store, sql, "--json")) == [record]
    assert query(sample_store, sql, "--format", "markdown").splitlines() == [
        "| t | f | n | l | x | s |", "| --- | --- | --- | --- | --- | --- |",
        "| a\\|b<br>&lt;i> | -0.5 |  | [1] |  | 3 |"
    ]  # fmt: skip


def test_columns_of_one_name_are_all_there(sample_store: Store) -> None:
    sql = "SELECT 1 AS a, 2 AS a, 3 AS a_2"
    assert json.loads(query(sample_store, sql, "--format", "jsonl")) == {"a": 1, "a_2": 2, "a_2_2": 3}


@pytest.mark.parametrize("name", ["r.csv", "r.parquet", "r.jsonl", "r.ndjson", "r.json", "r.md", "r.csv.tmp"])
def test_files_are_written_by_their_ending_or_the_form_that_is_named(
    sample_store: Store, tmp_path: Path, name: str
) -> None:
    more = ["--format", "csv"] if name.endswith(".tmp") else []
    assert "2 rows written to" in query(
        sample_store, "SELECT range AS n FROM range(2)", "--output", str(tmp_path / name), *more
    )
    assert [item.name for item in tmp_path.iterdir()] == [name]
    if name == "r.parquet":
        assert pq.read_table(tmp_path / name).to_pylist() == [{"n": 0}, {"n": 1}]
    else:
        assert "1" in (tmp_path / name).read_text()


def test_parquet_is_untouched(tmp_path: Path) -> None:
    table = pa.table({"a": FORMULAS})
    write_output(table, tmp_path / "r.parquet")
    assert pq.read_table(tmp_path / "r.parquet").equals(table)


def test_dash_is_standard_output(sample_store: Store) -> None:
    assert query(sample_store, "SELECT 1 AS a", "--output", "-") == "a\n1\n"
    assert query(sample_store, "SELECT 1 AS a", "--output", "-", "--format", "jsonl") == '{"a": 1}\n'
    assert "name a file" in query(sample_store, "SELECT 1", "--output", "-", "--format", "parquet", code=2)


def test_a_full_disk_names_the_place_and_leaves_what_was_there(sample_store: Store, tmp_path: Path) -> None:
    assert query(sample_store, "SELECT 1", "--output", "/dev/full", "--format", "csv", code=2) == (
        "rubrics: /dev/full: no space is left on this disk; free some, or name a place on another one\n"
    )
    place = tmp_path / "r.csv"
    place.write_text("mine")
    table = pa.table({"a": ["x" * 100] * 100})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("rubrics.store.output._csv_line", lambda row, shown: (_ for _ in ()).throw(OSError(28, "full")))
        with pytest.raises(OSError, match="full") as caught:
            write_output(table, place)
    assert caught.value.filename == str(place)
    assert place.read_text() == "mine"
    assert [item.name for item in tmp_path.iterdir()] == ["r.csv"]


def test_another_ending_is_refused_with_the_ones_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"ends in '.xls'; wanted .csv or .parquet, .jsonl, .json or .md"):
        write_output(pa.table({"a": [1]}), tmp_path / "r.xls")


def test_the_forms_of_the_help_are_those_there_are() -> None:
    assert reading.FORMATS == FORMATS


def test_a_terminal_is_not_sent_what_moves_its_cursor() -> None:
    stream = io.StringIO()
    from rubrics.visible import visible

    write_text(pa.table({"a": ["\x1b[2J\u202e"]}), stream, "csv", visible)
    assert stream.getvalue() == "a\n\\x1b[2J\\u202e\n"
