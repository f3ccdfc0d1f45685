"""Results against FAIL_TO_PASS and PASS_TO_PASS: passed, failed, or not known and why. Pure.

What counts as passed, status by status:

- `passed` does. `failed` and `error` do not.
- `xfailed`, `xpassed`, `skipped` do where the reference's own run had the test so: it is then what the task's authors
  saw. An `xpassed` also does where the reference had `xfailed`: the test ran to its end.
- Without a run of the reference, a fail_to_pass test must have `passed`. A pass_to_pass test may also be `xfailed` or
  `xpassed`: marks stand in test files, which are the task's, and SWE-bench's harness listed it so (it counts XFAIL as
  a pass). But an expected failure that the log shows to be raised by a call (`pytest.xfail(...)`) may come from the
  code under test, so it is not known. `skipped` never does: any code can skip a test.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from rubrics.testing.names import Names, is_junk, resolve
from rubrics.testing.results import BAD, GOOD, Results, Status, Unread

__all__ = ["Verdict", "compare", "is_junk", "settled"]


@dataclass(frozen=True, slots=True)
class Verdict:
    outcome: Literal["passed", "failed", "unknown", "infra"]
    """`infra` only where the runner never started."""
    why: str
    fail_to_pass: tuple[str, ...] = ()
    """Listed tests that must pass now and did not."""
    pass_to_pass: tuple[str, ...] = ()
    """Listed tests that must still pass and did not."""
    junk: tuple[str, ...] = ()
    """Listed scraps that no test is called by; left out."""
    kind: Unread | None = None
    """Why the outcome is not known; null for `passed` and `failed`, unless `settled` made it so."""
    unknown: tuple[str, ...] = ()
    """Listed tests whose status is not known."""


def settled(verdict: Verdict) -> Verdict:
    """The verdict on a live run of an attempt, whose task's start gave results that can be read.

    The runner was there then and wrote what can be read; where it did not now, the attempt is to blame: `failed`.
    """
    return replace(verdict, outcome="failed") if verdict.outcome in ("unknown", "infra") else verdict


def compare(
    results: Results,
    fail_to_pass: Iterable[str],
    pass_to_pass: Iterable[str],
    exit_code: int | None,
    hidden: Iterable[str] = (),
    reference: Results | None = None,
) -> Verdict:
    """The verdict.

    `reference` are the results of the reference's own run of the same command. Without listed tests the whole run
    decides: complete, exit code 0, nothing failed, and nothing skipped in the files of the test patch (`hidden`):
    code under test can raise a skip.
    """
    wanted, kept = tuple(fail_to_pass), tuple(pass_to_pass)
    listed = _Listed(results, reference)
    junk = tuple(sorted({name for name in (*wanted, *kept) if is_junk(name) and not listed.has(name)}))
    if results.problem is not None:
        outcome: Literal["infra", "unknown"] = "infra" if results.unread == "runner_missing" else "unknown"
        return Verdict(outcome, results.problem, junk=junk, kind=results.unread)
    fixed = {name: listed.judge(name, wanted=True) for name in wanted if name not in junk}
    still = {name: listed.judge(name, wanted=False) for name in kept if name not in junk}
    if not fixed and not still:
        return _whole_run(results, exit_code, junk, tuple(f"{path}::" for path in hidden))
    broken = tuple(name for name, said in fixed.items() if said == "failed")
    lost = tuple(name for name, said in still.items() if said == "failed")
    if broken or lost:
        why = f"{len(broken)} of {len(fixed)} not fixed, {len(lost)} of {len(still)} lost"
        return Verdict("failed", why, broken, lost, junk)
    unknown = [(name, said) for name, said in (*fixed.items(), *still.items()) if said not in ("passed", "failed")]
    if unknown:
        kind = unknown[0][1]
        why = f"{len(unknown)} of {len(fixed) + len(still)} listed tests are not known, first {unknown[0][0]!r}"
        return Verdict("unknown", why, junk=junk, kind=kind, unknown=tuple(name for name, _ in unknown))  # type: ignore[arg-type]
    return Verdict("passed", f"{len(fixed)} fixed, {len(still)} kept", junk=junk)


def _whole_run(results: Results, exit_code: int | None, junk: tuple[str, ...], hidden: tuple[str, ...]) -> Verdict:
    skipped = [name for name, status in results.statuses.items() if status == "skipped" and name.startswith(hidden)]
    if hidden and skipped:
        return Verdict("failed", f"{len(skipped)} hidden tests were skipped", junk=junk)
    bad = sum(status in BAD for status in results.statuses.values()) + len(results.broken)
    good = sum(status in GOOD for status in results.statuses.values())
    if exit_code != 0 or bad:
        return Verdict("failed", f"exit code {exit_code}, {bad} tests failed", junk=junk)
    if results.form != "exit" and not good:
        if not results.complete:
            return Verdict("unknown", "exit code 0, and nothing names the tests", junk=junk, kind="no_results")
        return Verdict("failed", "exit code 0, but no test passed", junk=junk)
    return Verdict("passed", f"exit code 0, {good} tests passed", junk=junk)


class _Listed:
    """What a run says of listed tests."""

    def __init__(self, results: Results, reference: Results | None) -> None:
        self._run, self._reference = results, reference
        self._names = Names(results)
        self._there = Names(reference) if reference is not None else None

    def has(self, name: str) -> bool:
        """Whether the run, or the reference's, has a test of that name: `#15789` is a docstring of Django's."""
        return bool(self._names.find(name) or (self._there is not None and self._there.find(name)))

    def judge(self, name: str, wanted: bool) -> Literal["passed", "failed"] | Unread:
        """Whether the listed test passed, by all tests that the name stands for; else why that is not known."""
        if self._names.is_broken(name):
            return "failed"
        tests = resolve(name, self._names, self._there, self._reference)
        said = [self._judge(test, wanted) for test in tests] or [self._missing(name)]
        return "failed" if "failed" in said else next((word for word in said if word != "passed"), "passed")

    def _judge(self, test: str, wanted: bool) -> Literal["passed", "failed"] | Unread:
        status = self._run.statuses.get(test)
        if status is None:
            return self._missing(test)
        if status == "passed":
            return "passed"
        before = self._reference.statuses.get(test) if self._reference is not None else None
        if before is not None:
            return "passed" if _as_before(status, before) else "failed"
        if wanted or status not in GOOD:
            return "failed"
        return "xfail_by_call" if test in self._run.called else "passed"

    def _missing(self, name: str) -> Literal["failed"] | Unread:
        """What it means that the run has no such test."""
        if not self._run.complete:
            return "no_results"
        if self._there is not None and self._there.find(name):
            return "failed"
        return "two_runs" if self._run.runs > 1 else "names_not_found"


def _as_before(status: Status, before: Status) -> bool:
    return status in ("xfailed", "xpassed", "skipped") and (status, before) in (
        ("xfailed", "xfailed"), ("xpassed", "xpassed"), ("skipped", "skipped"), ("xpassed", "xfailed"),
    )  # fmt: skip
