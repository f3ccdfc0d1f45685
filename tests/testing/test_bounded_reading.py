"""Hostile text costs itself: it is read in a process that ends when it takes too long or too much."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_helpers import log, results

from rubrics.testing.bounded import Reader, ReadingLimits
from rubrics.testing.readers import junit

CASE = '<testcase classname="t.a" name="n{}"><system-out>{}</system-out></testcase>'


def test_a_text_that_exceeds_a_limit_is_not_read_and_the_next_one_is(tmp_path: Path) -> None:
    """1 MB of output on a command of another form held a regular expression, and the stage, for good."""
    reader = Reader(ReadingLimits(memory=400 * 1024**2, size=64 * 1024**2))
    large = tmp_path / "large.log"
    large.write_bytes(b"x\n" * 40 * 1024**2)
    assert reader.log(large).unread == "too_large"
    assert reader.output("x y\n" * 15 * 1024**2 + "= 1 passed in 0.1s =\n", None).unread == "too_large"
    assert reader.output(log("pytest-8.4-rA"), 1) == results("pytest-8.4-rA")
    reader.close()
    slow = Reader(ReadingLimits(seconds=0.001))
    assert slow.output("x " * 10**6, None).unread == "too_large"
    slow.close()


def test_a_log_that_is_gone_says_so_and_the_reader_lives_on(tmp_path: Path) -> None:
    reader = Reader()
    assert reader.log(tmp_path / "gone.log").unread == "no_results"
    (tmp_path / "wide.log").write_bytes(log("cargo").encode("utf-16"))
    assert reader.log(tmp_path / "wide.log") == results("cargo")
    reader.close()


@pytest.mark.parametrize(
    "unit",
    [" (a.b)", "x (PENDING: y)", "= ", "=", "[", "t.py::a[", "a::b ", " ... ", "skipped '", "\x1b[",
     "1) A::b with data set (", "1 passed, ", "--- PASS: ", "(((", "test a ... ", "ok 1 - a ", "\u2028", "_ ",
     "SUBFAIL "],
)  # fmt: skip
def test_a_megabyte_of_anything_ends_within_the_limits(unit: str) -> None:
    """Found by fuzzing: a name searched from every place of a line, a reason matched from every bracket."""
    reader = Reader(ReadingLimits(seconds=60))
    ends = [
        "\nFinished in 1\n1 example, 0 failures\n", f"\n{'-' * 70}\nRan 1 test in 0.1s\n\nOK\n",
        "\n= 1 passed in 0.1s =\n", "\n1..1\n", "\nok  \tp\t0.1s\n", "\nOK (1 test, 1 assertion)\nPHPUnit \n",
        "\ntest result: ok. 1 passed;",
    ]  # fmt: skip
    for end in ends:
        text = f"  {unit * (1_000_000 // len(unit))} (a.b) ... {end}"
        assert reader.output(text, None).unread != "too_large", end
    reader.close()


def test_a_large_report_is_read_without_being_held() -> None:
    """A report of 60 MB cost 1.4 GB; here the reader has a gigabyte for one of 64 MB, and needs the text twice."""
    body = "".join(CASE.format(number, "x" * 640) for number in range(90_000))
    report = f'<testsuites><testsuite tests="90000" failures="0">{body}</testsuite></testsuites>'.encode()
    reader = Reader(ReadingLimits(memory=1024**3))
    found = reader.reports([report])
    reader.close()
    assert (found.problem, len(found.statuses)) == (None, 90_000)


@pytest.mark.parametrize(
    "report",
    [
        '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuite tests="1"><testcase name="&b;"/></testsuite>',
        "<testsuite>" * 200, '<testsuite tests="1"><testcase name="a"/>', "", "\x00", "<testsuite tests='1'/>",
        '<testsuite tests="1" failures="1"><testcase name="a"/></testsuite>',
    ],
)  # fmt: skip
def test_reports_that_no_runner_writes_are_a_problem(report: str) -> None:
    assert junit.read([report]).problem


def test_parts_of_a_test_count_in_pytests_report_and_stand_in_their_test() -> None:
    """pytest counts subtests among tests and lists none of them: a sound report was refused."""
    report = (
        '<testsuites><testsuite name="pytest" errors="0" failures="1" skipped="0" tests="5">'
        '<testcase classname="t" file="t.py" name="a"/>'
        '<testcase classname="t" file="t.py" name="b"><failure/></testcase>'
        "</testsuite></testsuites>"
    )
    assert junit.read([report], "pytest").statuses == {"t.py::a": "passed", "t.py::b": "failed"}
    assert junit.read([report], "pytest").problem is None
    assert junit.read([report.replace("<failure/>", "")], "pytest").unread == "totals_differ"
    assert junit.read([report]).unread == "totals_differ", "others list what they count"
