"""What code under test, terminals and log collectors do to a log: nothing forged wins, nothing honest is lost."""

from __future__ import annotations

import re

import pytest
from log_helpers import log, outcome, results, truth, verdict

from rubrics.testing.compare import compare
from rubrics.testing.output import read_output
from rubrics.testing.readers import pytest_lines

HEAD = "============================= test session starts ==============================\n"
SUMMARY = "=========================== short test summary info ============================\n"


def session(collected: int, body: str, closing: str) -> str:
    return f"{HEAD}collected {collected} items\n\n{body}\n============ {closing} in 0.05s ============\n"


def test_a_status_that_the_code_under_test_prints_passes_nobody_where_there_is_no_summary() -> None:
    """`x::y PASSED` among the lines of `-v` was a pass: there was no summary that said otherwise."""
    body = "t.py::a \nt.py::b PASSED\nPASSED\nt.py::b FAILED\n"
    text = session(2, body, "1 failed, 1 passed")
    assert (outcome(text, "t.py::b"), outcome(text, "t.py::a")) == ("failed", "passed")
    assert outcome(session(1, "t.py::a t.py::b PASSED\nPASSED\n", "1 passed"), "t.py::b") == "unknown"
    assert outcome(session(1, "t.py::a \nt.py::b PASSED\nPASSED\n", "1 passed"), "t.py::b") == "unknown"


def test_a_status_that_a_test_prints_of_itself_does_not_hide_the_one_behind_it() -> None:
    text = session(1, "t.py::a t.py::a PASSED\nPASSED\nFAILED\n", "1 failed")
    assert outcome(text, "t.py::a") == "failed"
    text = session(1, "t.py::a FAILED\nPASSED\n", "1 passed")
    assert outcome(text, "t.py::a") == "passed"


def test_a_summary_printed_before_the_real_one_counts_for_nothing() -> None:
    forged = f"{SUMMARY}PASSED t.py::b\n===== 1 passed in 0.01s =====\n"
    body = f"t.py .F\n=========== PASSES ===========\n{forged}{SUMMARY}PASSED t.py::a\nFAILED t.py::b - no"
    text = session(2, body, "1 failed, 1 passed")
    assert (outcome(text, "t.py::b"), outcome(text, "t.py::a")) == ("failed", "passed")


def test_a_closing_line_printed_after_the_real_one_makes_the_log_unknown() -> None:
    text = session(2, f"{SUMMARY}PASSED t.py::a\nFAILED t.py::b - no", "1 failed, 1 passed")
    said = verdict(f"{text}======= 2 passed in 0.05s =======\n", "t.py::b")
    assert (said.outcome, said.kind) == ("unknown", "totals_differ")


def test_a_run_that_the_code_under_test_ends_with_a_summary_of_its_own_is_not_closed() -> None:
    text = session(40, f"t.py ..\n{SUMMARY}PASSED t.py::b", "1 passed")
    assert verdict(text, "t.py::b").kind == "not_closed"


def test_the_last_of_two_runs_counts_if_it_is_whole_and_has_the_listed_tests() -> None:
    """Lines of both runs were read together: what the first run failed stayed failed."""
    first = session(2, f"{SUMMARY}PASSED t.py::a\nFAILED t.py::b - no", "1 failed, 1 passed")
    second = session(2, f"{SUMMARY}PASSED t.py::a\nPASSED t.py::b", "2 passed")
    assert outcome(first + second, "t.py::b") == "passed"
    assert outcome(second + first, "t.py::b") == "failed"
    assert verdict(first + second, "t.py::gone").kind == "two_runs"
    assert verdict(second + HEAD + "collected 2 items\n\nt.py .", "t.py::b").kind == "not_closed"
    other = session(1, f"{SUMMARY}PASSED u.py::x", "1 passed")
    assert verdict(second + other, "t.py::b").kind == "two_runs"


def test_verbose_lines_of_two_runs_are_not_mixed() -> None:
    first = session(2, "t.py::a PASSED\nt.py::b FAILED", "1 failed, 1 passed")
    second = session(2, "t.py::a PASSED\nt.py::b PASSED", "2 passed")
    assert (outcome(first + second, "t.py::b"), outcome(second + first, "t.py::b")) == ("passed", "failed")
    swapped = session(2, "t.py::a FAILED\nt.py::b PASSED", "1 failed, 1 passed")
    assert verdict(first + swapped, "t.py::b").outcome in ("passed", "unknown")


def test_a_run_within_a_run_belongs_to_the_test_that_started_it() -> None:
    """Tests of pytest itself run pytest, and `-rA` shows what that printed."""
    inner = session(1, "t.py::b PASSED", "1 passed")
    body = f"t.py .F\n==== PASSES ====\n____ a ____\n---- Captured stdout call ----\n{inner}{SUMMARY}"
    body += "PASSED t.py::a\nFAILED t.py::b"
    text = session(2, body, "1 failed, 1 passed")
    assert (outcome(text, "t.py::a"), outcome(text, "t.py::b")) == ("passed", "failed")
    twice = text.replace("collected 1 items\n\nt.py::b PASSED", "collected 2 items\n\nt.py::a FAILED\nt.py::b PASSED")
    twice = twice.replace("1 passed in 0.05s ============\n===", "1 failed, 1 passed in 0.05s ============\n===")
    assert (outcome(twice, "t.py::a"), outcome(twice, "t.py::b")) == ("passed", "failed")


@pytest.mark.parametrize(
    "closing",
    [
        "3 passed in 0.12s", "=== 3 passed, 1 pytest-warnings in 0.12 seconds ===",
        "= 3 passed in 90061.00s (1 day, 1:01:01) =", "==== 3 passed, 4 subtests passed, 2 rerun in 1.02s ====",
        "=== 3 passed, 2 warnings, 41 deselected in 62.10s (0:01:02) ===",
        "=== 3 passed, 0 snapshots passed in 0.1s ===",
    ],
)  # fmt: skip
def test_closing_lines_of_every_form_are_counted(closing: str) -> None:
    counts = pytest_lines.closing(closing)
    assert counts is not None
    assert counts["passed"] == 3


TIMED = {
    "docker": "2026-12-01T03:17:43.801551123Z ",
    "jenkins": "[2026-12-01T03:17:43.801Z] ",
    "plain": "2026-12-01 03:17:43,801 ",
}
LOGS = [
    "pytest-8.4-rA",
    "pytest-9.2-v",
    "unittest-3.8-v",
    "django-3.2-v2",
    "go-v",
    "cargo",
    "jest-verbose",
    "gtest",
    "tap-prove",
]


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("time", TIMED)
def test_times_that_a_log_collector_puts_before_lines_change_nothing(name: str, time: str) -> None:
    text = "\n".join(TIMED[time] + line for line in log(name).split("\n"))
    assert read_output(text, None) == results(name)


@pytest.mark.parametrize("name", LOGS)
def test_carriage_returns_and_colours_change_nothing(name: str) -> None:
    assert read_output(log(name).replace("\n", "\r\n"), None) == results(name)
    coloured = re.sub(r"(?m)^(\S+)", "\x1b[1m\x1b[38;5;12m\\1\x1b[0m\x1b[K", log(name))
    assert read_output(coloured, None) == results(name)


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_log_that_was_cut_off_is_unknown_and_fails_nobody(name: str, share: float) -> None:
    text = log(name)[: int(len(log(name)) * share)]
    said = {listed: verdict(text, listed).outcome for listed in truth(name)}
    if name in ("cargo", "tap-prove"):
        closed = [listed for listed, outcome in said.items() if outcome == "passed"]
        assert all(truth(name)[listed] == "passed" for listed in closed), "programs before the cut were whole"
    else:
        assert "passed" not in said.values()
    assert not any(truth(name)[listed] in ("passed", None) for listed, outcome in said.items() if outcome == "failed")


def test_what_a_test_prints_in_another_runners_form_is_not_read_where_the_command_is_known() -> None:
    text = log("unittest-3.12-v")
    forged = session(1, f"{SUMMARY}PASSED test_kinds.py::test_wrong", "1 passed")
    assert read_output(forged + text, None, "python -m unittest -v").form == "unittest"
    ids = [name for name in read_output(forged + text, None).statuses if name.startswith("test_wrong (")]
    assert all(read_output(forged + text, None).statuses[name] == "failed" for name in ids)


@pytest.mark.parametrize(
    "line",
    [
        "/usr/bin/python3: No module named pytest", "bash: line 3: pytest: command not found",
        "/bin/sh: 1: go: not found",
        "sh: 1: jest: not found", "env: 'cargo': No such file or directory", "eval.sh: line 12: tox: command not found",
        "ModuleNotFoundError: No module named 'pytest'", "ModuleNotFoundError: No module named '_pytest.config'",
        "timeout: failed to run command 'pytest': No such file or directory",
        "zsh: line 1: vendor/bin/phpunit: No such file or directory",
    ],
)  # fmt: skip
def test_a_runner_that_is_not_there_is_infra_in_every_shells_words(line: str) -> None:
    said = verdict(f"+ cd /testbed\nTraceback (most recent call last):\n{line}\n", "t.py::a")
    assert (said.outcome, said.kind) == ("infra", "runner_missing")


def test_the_words_of_a_missing_runner_make_no_infra_of_a_run_that_took_place() -> None:
    line = "/usr/bin/python3: No module named pytest\n"
    text = session(1, f"{line}t.py::a FAILED", "1 failed")
    assert outcome(line + text, "t.py::a") == "failed"
    assert verdict(f"{line}\nmany\nother\nlines\nstood\nhere\n", "t.py::a").kind == "no_results"
    assert verdict(f"{HEAD}{line}", "t.py::a").kind == "not_closed"


def test_an_expected_failure_by_call_is_told_from_a_marked_one_where_pytest_tells_it() -> None:
    for name in ("pytest-3.10-rapP", "pytest-5.4-rA", "pytest-7.4-rA"):
        found = results(name)
        said = [compare(found, [], [f"test_kinds.py::test_expected{end}"], None) for end in ("", "_by_call")]
        assert [(item.outcome, item.kind) for item in said] == [("passed", None), ("unknown", "xfail_by_call")]


def test_lines_between_the_dots_and_ok_are_not_the_tests_end() -> None:
    """System checks, migrations and warnings stand there; one without a line end stands before the next test's id."""
    end = f"\n{'-' * 70}\nRan {{}} in 0.1s\n\nOK\n"
    text = f"test_a (m.T) ...   Applying m.0001... OK\nlook\nok\ntest_b (m.T) ... ok\n{end.format('2 tests')}"
    assert outcome(text, "test_a (m.T)", "test_b (m.T)") == "passed"
    glued = f"  Applying sites.0002_alter...test_no_migrations (m.T) ... ok\n{end.format('1 test')}"
    assert outcome(glued, "test_no_migrations (m.T)") == "passed"


def test_a_test_that_claims_ok_before_it_fails_has_failed() -> None:
    rule, dash = "=" * 70, "-" * 70
    text = (
        f"test_a (m.T) ... ok\nFAIL\ntest_b (m.T) ... ok\n\n{rule}\nFAIL: test_a (m.T)\n{dash}\nTraceback\n\n{dash}\n"
        "Ran 2 tests in 0.1s\n\nFAILED (failures=1)\n"
    )
    assert (outcome(text, "test_a (m.T)"), outcome(text, "test_b (m.T)")) == ("failed", "passed")
    forged = f"{text}{dash}\nRan 2 tests in 0.1s\n\nOK\n"
    assert outcome(forged, "test_a (m.T)") == "unknown"


def test_a_class_that_is_skipped_as_a_whole_skips_itself_alone() -> None:
    """Before Python 3.11 its line names nothing and stands behind another class's last test, which was skipped then."""
    end = f"\n{'-' * 70}\nRan {{}} tests in 0.1s\n\nOK (skipped=1)\n"
    old = "test_a (m.T) ... ok\nskipped 'no such database'\ntest_b (m.U) ... ok\n" + end.format(2)
    new = "test_a (m.T.test_a) ... ok\nsetUpClass (m.V) ... skipped 'no such database'\n" + end.format(1)
    assert outcome(old, "test_a (m.T)", "test_b (m.U)") == "passed"
    assert outcome(new, "test_a (m.T)") == "passed"
    printed = old.replace("m.U", "m.T")
    assert outcome(printed, "test_a (m.T)") == "failed", "its class goes on: the test printed ok and was skipped"


def test_a_docstring_of_digits_is_a_name_and_no_scrap() -> None:
    text = f"test_a (m.T)\n#15789 ... FAIL\ntest_b (m.T) ... ok\n\n{'-' * 70}\n"
    text += "Ran 2 tests in 0.1s\n\nFAILED (failures=1)\n"
    assert outcome(text, "test_b (m.T)", keep=("#15789",)) == "failed"
    assert outcome(text, "test_b (m.T)", keep=("#1",)) == "passed"
