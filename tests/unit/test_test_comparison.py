"""FAIL_TO_PASS and PASS_TO_PASS against results: cut ids, junk ids, missing tests, skips, whole runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rubrics.records.tasks import Task
from rubrics.testing.bounded import Reader
from rubrics.testing.compare import compare, is_junk, settled
from rubrics.testing.results import Results, Status
from rubrics.testing.stored_logs import outcome_of, stored_logs

GOOD: dict[str, Status] = {"t.py::a": "passed", "t.py::b[x y]": "passed", "t.py::b[x z]": "passed"}


def results(**changes: Status) -> Results:
    renamed = {name.replace("__", "::").replace("_py", ".py"): status for name, status in changes.items()}
    return Results("pytest", {**GOOD, **renamed})


def test_everything_listed_passed_is_passed() -> None:
    assert compare(results(), ["t.py::a"], ["t.py::b[x y]"], 0).outcome == "passed"


def test_a_test_that_a_whole_run_does_not_report_failed_if_the_references_run_had_it_and_is_else_unknown() -> None:
    """A missing test was failed for all, also where the row's name for it was not the runner's."""
    verdict = compare(results(), ["t.py::gone"], ["t.py::a"], 0)
    assert (verdict.outcome, verdict.kind, verdict.unknown) == ("unknown", "names_not_found", ("t.py::gone",))
    had = Results("pytest", {**GOOD, "t.py::gone": "passed"})
    verdict = compare(results(), ["t.py::gone"], ["t.py::a"], 0, reference=had)
    assert (verdict.outcome, verdict.fail_to_pass, verdict.pass_to_pass) == ("failed", ("t.py::gone",), ())


def test_a_failure_that_was_read_counts_whatever_else_is_unknown() -> None:
    verdict = compare(results(t_py__a="failed"), ["t.py::gone"], ["t.py::a"], 1)
    assert (verdict.outcome, verdict.pass_to_pass) == ("failed", ("t.py::a",))


def test_an_id_cut_at_its_first_blank_stands_for_every_test_that_it_begins() -> None:
    assert compare(results(), ["t.py::b[x"], [], 0).outcome == "passed"
    one_fails = Results("pytest", {**GOOD, "t.py::b[x z]": "failed"})
    assert compare(one_fails, ["t.py::b[x"], [], 1).outcome == "failed"


def test_an_id_with_a_real_newline_is_the_id_that_pytest_writes_escaped() -> None:
    found = Results("pytest", {"t.py::c[one\\ntwo]": "passed"})
    assert compare(found, ["t.py::c[one\ntwo]"], [], 0).outcome == "passed"


@pytest.mark.parametrize("name", ["[100%]", "[", "", "  ", "[ 50%]", "...", "12"])
def test_scraps_of_output_are_no_tests(name: str) -> None:
    assert is_junk(name)
    verdict = compare(results(), ["t.py::a"], [name], 0)
    assert (verdict.outcome, verdict.junk) == ("passed", (name,))


@pytest.mark.parametrize("name", ["t.py::a", "test_a (x.Y)", "TestGo/sub", "a.py::b[1-2]"])
def test_ids_of_every_form_are_tests(name: str) -> None:
    assert not is_junk(name)


@pytest.mark.parametrize(
    ("status", "before", "wanted", "kept"),
    [
        ("skipped", None, "failed", "failed"), ("xfailed", None, "failed", "passed"),
        ("xpassed", None, "failed", "passed"), ("skipped", "skipped", "passed", "passed"),
        ("xfailed", "xfailed", "passed", "passed"), ("xpassed", "xfailed", "passed", "passed"),
        ("xfailed", "passed", "failed", "failed"), ("skipped", "passed", "failed", "failed"),
        ("xpassed", "passed", "failed", "failed"), ("passed", "xfailed", "passed", "passed"),
        ("xfailed", "xpassed", "failed", "failed"), ("passed", "failed", "passed", "passed"),
    ],
)  # fmt: skip
def test_expected_failures_and_skips_count_as_the_references_run_had_them(
    status: Status, before: Status | None, wanted: str, kept: str
) -> None:
    """Any code can call `pytest.xfail` or skip: an attempt passed its fail_to_pass tests so."""
    run = results(t_py__a=status)
    reference = Results("pytest", {**GOOD, "t.py::a": before}) if before else None
    assert compare(run, ["t.py::a"], [], 0, reference=reference).outcome == wanted
    assert compare(run, [], ["t.py::a"], 0, reference=reference).outcome == kept


def test_an_expected_failure_that_was_raised_by_a_call_is_not_known_without_the_reference() -> None:
    run = Results("pytest", {"t.py::a": "xfailed"}, called=frozenset({"t.py::a"}))
    verdict = compare(run, [], ["t.py::a"], 0)
    assert (verdict.outcome, verdict.kind) == ("unknown", "xfail_by_call")
    assert compare(run, [], ["t.py::a"], 0, reference=Results("pytest", {"t.py::a": "xfailed"})).outcome == "passed"


def test_what_cannot_be_read_is_unknown_and_the_attempts_failure_only_where_it_was_run_here() -> None:
    """Logs without a summary made failures of passes; a live run has been read at the task's start."""
    verdict = compare(Results("pytest", GOOD, "no report"), ["t.py::a"], [], 0)
    assert (verdict.outcome, verdict.kind) == ("unknown", "not_closed")
    assert (settled(verdict).outcome, settled(verdict).kind) == ("failed", "not_closed")
    missing = compare(Results("exit", {}, "no pytest", "runner_missing"), ["t.py::a"], [], 127)
    assert (missing.outcome, settled(missing).outcome) == ("infra", "failed")
    assert settled(compare(results(), ["t.py::a"], [], 0)).outcome == "passed"


def test_a_run_that_names_no_passes_says_nothing_of_them_and_something_of_its_failures() -> None:
    dots = Results("pytest", {"t.py::b": "failed"}, complete=False)
    assert compare(dots, ["t.py::a"], [], 0).kind == "no_results"
    assert compare(dots, ["t.py::a"], ["t.py::b"], 1).outcome == "failed"


def test_tests_of_a_file_that_could_not_be_collected_failed() -> None:
    run = Results("pytest", {"t.py::a": "passed"}, broken=frozenset({"u.py"}))
    assert compare(run, ["u.py::x"], ["t.py::a"], 1).fail_to_pass == ("u.py::x",)


def test_without_listed_tests_the_whole_run_decides() -> None:
    assert compare(results(), [], [], 0).outcome == "passed"
    assert compare(results(), [], [], 1).outcome == "failed"
    assert compare(results(t_py__a="failed"), [], [], 0).outcome == "failed"
    assert compare(Results("pytest", {}), [], [], 0).outcome == "failed"
    assert compare(Results("exit"), [], [], 0).outcome == "passed"
    assert compare(results(t_py__a="skipped"), [], [], 0, ["t.py"]).outcome == "failed"


def test_stored_logs_of_real_attempts_say_what_their_harness_recorded(real: Path) -> None:
    rows = [json.loads(line) for line in (real / "specs.jsonl").read_text("utf-8").splitlines()]
    tasks = {
        row["instance_id"]: Task(
            row["instance_id"], None, None, None, fail_to_pass=tuple(json.loads(row["FAIL_TO_PASS"])),
            pass_to_pass=tuple(json.loads(row["PASS_TO_PASS"])),
        )
        for row in rows
    }  # fmt: skip
    recorded = json.loads((real / "outcomes.json").read_text("utf-8"))
    said, reader = {}, Reader()
    for log in stored_logs([real / "mini-swe-agent"]):
        outcome, _ = outcome_of(log, tasks[log.task_id], "r", reader)
        said[log.task_id, log.run] = outcome.outcome
        assert outcome.source.endswith("test_output.txt")
        assert outcome.log_digest
    reader.close()
    wanted = {key: "passed" if recorded[key[0]][key[1]]["resolved"] else "failed" for key in said}
    assert len(said) == 8
    assert said == wanted
