"""FAIL_TO_PASS and PASS_TO_PASS against results: cut ids, junk ids, missing tests, skips, whole runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rubrics.records.tasks import Task
from rubrics.testing.compare import compare, is_junk
from rubrics.testing.results import Results, Status
from rubrics.testing.stored_logs import outcome_of, stored_logs

GOOD: dict[str, Status] = {"t.py::a": "passed", "t.py::b[x y]": "passed", "t.py::b[x z]": "passed"}


def results(**changes: Status) -> Results:
    renamed = {name.replace("__", "::").replace("_py", ".py"): status for name, status in changes.items()}
    return Results("pytest", {**GOOD, **renamed})


def test_everything_listed_passed_is_passed() -> None:
    assert compare(results(), ["t.py::a"], ["t.py::b[x y]"], 0).outcome == "passed"


def test_a_test_that_is_not_reported_did_not_pass() -> None:
    verdict = compare(results(), ["t.py::gone"], ["t.py::a"], 0)
    assert (verdict.outcome, verdict.fail_to_pass, verdict.pass_to_pass) == ("failed", ("t.py::gone",), ())


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


def test_a_listed_test_that_was_skipped_did_not_pass_but_an_expected_failure_did() -> None:
    assert compare(results(t_py__a="skipped"), ["t.py::a"], [], 0).outcome == "failed"
    assert compare(results(t_py__a="xfailed"), ["t.py::a"], [], 0).outcome == "passed"


def test_a_run_that_did_not_end_by_itself_failed_whatever_it_lists() -> None:
    assert compare(Results("pytest", GOOD, "no report"), ["t.py::a"], [], 0).outcome == "failed"


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
    said = {}
    for log in stored_logs([real / "mini-swe-agent"]):
        outcome = outcome_of(log, tasks[log.task_id], "r")
        said[log.task_id, log.run] = outcome.outcome
        assert outcome.source.endswith("test_output.txt")
        assert outcome.log_digest
    wanted = {key: "passed" if recorded[key[0]][key[1]]["resolved"] else "failed" for key in said}
    assert len(said) == 8
    assert said == wanted
