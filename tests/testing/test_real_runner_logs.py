"""Logs that real runners wrote, by runner, version and options, against what their test files state.

No test that failed is read as passed, none that passed as failed. A log that does not name its passes, or whose numbers
do not agree, says `unknown`; which of them those are is stated here too, so that a reader cannot hide behind it.
"""

from __future__ import annotations

import re

import pytest
from log_helpers import INDEX, results, truth

from rubrics.testing.compare import compare
from rubrics.testing.names import Names

COUNTS_ONLY = re.compile(
    r"dots|-v1$|^jest$|^vitest$|^go-plain$|^pytest-3.10-(rA|q-rA|color-rA|xdist-rA|reruns-rA|unittest-rA|wrapped-rA|import-on-rA)$"
)
"""Logs that name failures at most: dots, and pytest 3, which does not know `-rA`."""
NUMBERS_DIFFER = re.compile(r"^pytest-5.4-subtests")
"""The first releases of pytest-subtests list a passed part as a passed test, and do not count it."""
NO_TESTS_BY_NAME = {"org.example.CartTest.adds", "Cart.DISABLED_Never", "never begun"}
"""What no log of its runner names, though the test was there."""


@pytest.mark.parametrize("name", INDEX)
def test_no_status_of_a_real_log_is_read_wrongly(name: str) -> None:
    found = results(name)
    passes = 0
    for listed, status in truth(name).items():
        verdict = compare(found, [listed], [], None)
        if status == "passed":
            assert verdict.outcome in ("passed", "unknown", "infra"), (listed, verdict)
            passes += verdict.outcome == "passed"
        elif status is None:
            assert verdict.outcome in ("unknown", "infra"), (listed, verdict)
        else:
            assert verdict.outcome in ("failed", "unknown", "infra"), (listed, status, verdict)
    wanted = sum(status == "passed" for key, status in truth(name).items() if key not in NO_TESTS_BY_NAME)
    unread = "runner-missing" in name or COUNTS_ONLY.search(name) or NUMBERS_DIFFER.search(name)
    assert passes == (0 if unread else wanted), found


@pytest.mark.parametrize("name", [name for name in INDEX if "runner-missing" in name])
def test_a_runner_that_never_started_is_infra(name: str) -> None:
    verdict = compare(results(name), ["test_kinds.py::test_plain"], [], None)
    assert (verdict.outcome, verdict.kind) == ("infra", "runner_missing")


@pytest.mark.parametrize("name", [name for name in INDEX if name.startswith(("pytest", "unittest", "django"))])
def test_failures_are_read_as_failed_wherever_passes_are_read(name: str) -> None:
    found = results(name)
    if not found.complete or found.problem is not None:
        return
    bad = [listed for listed, status in truth(name).items() if status in ("failed", "error")]
    assert [listed for listed in bad if compare(found, [listed], [], None).outcome != "failed"] == []


@pytest.mark.parametrize(
    "name", [name for name in INDEX if re.fullmatch(r"(pytest-\d.\d+-v|(unittest|django)-.*-v2?)", name)]
)
def test_with_the_references_run_skips_and_expected_failures_count_as_it_had_them(name: str) -> None:
    found = results(name)
    names = Names(found)
    for listed, status in truth(name).items():
        said = compare(found, [listed], [], None, reference=found).outcome
        good = status in ("passed", "skipped", "xfailed", "xpassed")
        if len(names.find(listed)) < 2:
            assert said == ("unknown" if status is None else "passed" if good else "failed"), listed
