"""Readers of test output: what each form says, and what a forged or cut log does not get away with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rubrics.testing.readers import go_output, junit, pytest_output, tap, unittest_output
from rubrics.testing.readers.lines import hidden_part
from rubrics.testing.stored_logs import stored_logs

PYTEST = """\
============================= test session starts ==============================
collected 4 items

tests/test_a.py ..Fs                                                     [100%]
PASSED tests/test_a.py::printed_by_the_code
=========================== short test summary info ============================
PASSED tests/test_a.py::test_one
PASSED tests/test_a.py::test_two[a b - c]
SKIPPED [1] tests/test_a.py:9: no need
FAILED tests/test_a.py::test_three - AssertionError: assert 1 == 2
=================== 1 failed, 2 passed, 1 skipped in 0.12s ====================
"""


def test_pytest_lines_count_after_its_own_heading_only() -> None:
    results = pytest_output.read(PYTEST)
    assert results.problem is None
    assert results.statuses == {
        "tests/test_a.py::test_one": "passed",
        "tests/test_a.py::test_two[a b - c]": "passed",
        "tests/test_a.py::test_three": "failed",
    }


def test_pytest_verbose_lines_are_read_where_there_is_no_summary() -> None:
    text = (
        "= test session starts =\nt.py::a PASSED   [ 50%]\nt.py::b[x y] FAILED [100%]\n= 1 failed, 1 passed in 0.1s =\n"
    )
    assert pytest_output.read(text).statuses == {"t.py::a": "passed", "t.py::b[x y]": "failed"}


def test_pytest_without_its_closing_line_is_not_complete() -> None:
    assert "closing line" in str(pytest_output.read(PYTEST.rsplit("\n", 2)[0]).problem)


def test_pytest_that_lists_more_passes_than_it_counted_is_a_problem() -> None:
    forged = PYTEST.replace("SKIPPED [1]", "PASSED tests/test_a.py::forged\nSKIPPED [1]")
    assert "3 tests are listed as passed, pytest counted 2" in str(pytest_output.read(forged).problem)


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("===== 3 passed, 2 warnings in 0.31s =====", {"passed": 3, "warnings": 2}),
        ("3 passed in 62.10s (0:01:02)", {"passed": 3}),
        ("=== 1 failed, 1 error in 2.00 seconds ===", {"failed": 1, "error": 1}),
        ("===== no tests ran in 0.01s =====", {}),
        ("nothing of the kind", None),
    ],
)
def test_pytest_closing_lines_old_and_new_are_counted(line: str, counts: dict[str, int] | None) -> None:
    assert pytest_output.closing_counts(f"before\n{line}\n") == counts


UNITTEST = """\
test_a (tests.test_x.Case) ... ok
test_b (tests.test_x.Case)
Says what it does. ... FAIL
test_c (tests.test_x.Case) ... skipped 'why'

----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1, skipped=1)
"""


def test_unittest_lines_and_its_closing_count_agree() -> None:
    results = unittest_output.read(UNITTEST)
    assert results.problem is None
    assert [results.statuses[f"test_{name} (tests.test_x.Case)"] for name in "abc"] == ["passed", "failed", "skipped"]


def test_unittest_that_says_ok_beside_a_failure_is_a_problem() -> None:
    assert unittest_output.read(UNITTEST.replace("FAILED (failures=1, skipped=1)", "OK")).problem
    assert "before its end" in str(unittest_output.read(UNITTEST.split("Ran")[0]).problem)


def test_go_tests_count_only_if_they_began_and_a_package_was_closed() -> None:
    text = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- PASS: TestForged (0.00s)\n=== RUN   TestB\n"
    text += "ok  \texample.org/x\t0.1s\n"
    results = go_output.read(text)
    assert results.unread == "totals_differ", "TestB began and never ended, in a package that is ok"
    results = go_output.read(text.replace("=== RUN   TestB\n", ""))
    assert results.statuses == {}, "a test that never began ended: the run is not verbose, and its lines are prints"
    text = text.replace("--- PASS: TestForged (0.00s)\n", "").replace("TestB", "TestB\n--- PASS: TestB (0.01s)")
    assert go_output.read(text).statuses == {"TestA": "passed", "TestB": "passed"}
    assert go_output.read(text.split("ok ")[0]).unread == "not_closed"


def test_go_events_are_read_too() -> None:
    events = [
        {"Action": "run", "Package": "p", "Test": "TestA"}, {"Action": "pass", "Package": "p", "Test": "TestA"},
        {"Action": "pass", "Package": "p"},
    ]  # fmt: skip
    results = go_output.read("\n".join(json.dumps(event, separators=(",", ":")) for event in events))
    assert (results.statuses, results.problem) == ({"TestA": "passed"}, None)


def test_tap_is_complete_when_its_plan_is_met_once() -> None:
    text = "1..3\nok 1 - adds\nnot ok 2 - subtracts\nok 3 - waits # SKIP slow\n"
    results = tap.read(text)
    assert results.statuses == {"adds": "passed", "subtracts": "failed", "waits": "skipped"}
    assert results.problem is None
    assert "planned 3" in str(tap.read(text.replace("ok 3", "# 3")).problem)
    assert "one plan" in str(tap.read(text + "1..4\n").problem)


def test_junit_names_are_pytest_ids_where_the_report_names_the_file() -> None:
    report = (
        '<testsuites><testsuite tests="3">'
        '<testcase classname="tests.test_a.TestX" file="tests/test_a.py" name="test_b[1]"/>'
        '<testcase classname="org.example.CTest" name="works"><failure message="no"/></testcase>'
        '<testcase classname="tests.test_a" file="tests/test_a.py" name="c"><skipped type="pytest.xfail"/></testcase>'
        "</testsuite></testsuites>"
    )
    results = junit.read([report])
    assert results.problem is None
    assert results.statuses == {
        "tests/test_a.py::TestX::test_b[1]": "passed",
        "org.example.CTest.works": "failed",
        "tests/test_a.py::c": "xfailed",
    }
    assert "states 4 tests" in str(junit.read([report.replace('tests="3"', 'tests="4"')]).problem)
    assert junit.read(["<testsuite>"]).problem
    assert "no report" in str(junit.read([]).problem)


def test_only_what_stands_between_the_harness_marks_is_read() -> None:
    text = "+ : '>>>>> Start Test Output'\ninside\n+ : '>>>>> End Test Output'\nPASSED after\n"
    assert hidden_part(text) == "inside\n+ : '"
    assert hidden_part("no marks\n") == "no marks\n"
    assert hidden_part(f"before\n{text[:-40]}").startswith("inside\n"), "a log that was cut has no second mark"


def test_marks_that_the_code_under_test_prints_move_nothing() -> None:
    """The last mark that begins the tests used to count, so a test could print one and its own results behind it."""
    forged = "PASSED x\n>>>>> Start Test Output\nPASSED y\n>>>>> End Test Output\nFAILED y\n"
    assert hidden_part(f">>>>> Start Test Output\n{forged}>>>>> End Test Output\n") == forged


def test_a_stored_log_is_where_it_lies_and_none_of_its_text(real: Path) -> None:
    logs = list(stored_logs([real / "mini-swe-agent"]))
    assert len(logs) == 8
    text = logs[0].path.read_text("utf-8")
    fields = [str(getattr(logs[0], name)) for name in logs[0].__slots__ if name != "patch"]
    assert not any(line in field for field in fields for line in text.splitlines() if len(line) > 20)
