"""Results against FAIL_TO_PASS and PASS_TO_PASS: passed or failed, and which tests decided. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rubrics.testing.results import BAD, GOOD, Results, Status

_JUNK = re.compile(r"[\W\d_]*|\[\s*\d+%\]?")


@dataclass(frozen=True, slots=True)
class Verdict:
    outcome: Literal["passed", "failed"]
    why: str
    fail_to_pass: tuple[str, ...] = ()
    """Listed tests that must pass now and did not."""
    pass_to_pass: tuple[str, ...] = ()
    """Listed tests that must still pass and did not."""
    junk: tuple[str, ...] = ()
    """Listed ids that are no tests; left out."""


def is_junk(name: str) -> bool:
    """Whether a listed id is a scrap of output (`[100%]`, `[`) rather than a test."""
    return _JUNK.fullmatch(name.strip()) is not None


def compare(
    results: Results,
    fail_to_pass: Iterable[str],
    pass_to_pass: Iterable[str],
    exit_code: int | None,
    hidden: Iterable[str] = (),
) -> Verdict:
    """The verdict.

    Without listed tests the whole run decides: complete, exit code 0, nothing failed, and nothing skipped in the files
    of the test patch (`hidden`): code under test can raise a skip.
    """
    listed = (*fail_to_pass, *pass_to_pass)
    junk = tuple(sorted({name for name in listed if is_junk(name)}))
    if results.problem is not None:
        return Verdict("failed", results.problem, junk=junk)
    known = _Known(results)
    wanted = [name for name in fail_to_pass if not is_junk(name)]
    kept = [name for name in pass_to_pass if not is_junk(name)]
    if not wanted and not kept:
        return _whole_run(results, exit_code, junk, tuple(f"{path}::" for path in hidden))
    if not results.statuses:
        return Verdict("failed", f"no test of the {len(wanted) + len(kept)} listed was reported", junk=junk)
    broken = tuple(name for name in wanted if not known.passed(name))
    lost = tuple(name for name in kept if not known.passed(name))
    if not broken and not lost:
        return Verdict("passed", f"{len(wanted)} fixed, {len(kept)} kept", junk=junk)
    why = f"{len(broken)} of {len(wanted)} not fixed, {len(lost)} of {len(kept)} lost"
    return Verdict("failed", why, broken, lost, junk)


def _whole_run(results: Results, exit_code: int | None, junk: tuple[str, ...], hidden: tuple[str, ...]) -> Verdict:
    skipped = [name for name, status in results.statuses.items() if status == "skipped" and name.startswith(hidden)]
    if hidden and skipped:
        return Verdict("failed", f"{len(skipped)} hidden tests were skipped", junk=junk)
    bad = sum(status in BAD for status in results.statuses.values())
    good = sum(status in GOOD for status in results.statuses.values())
    if exit_code != 0 or bad:
        return Verdict("failed", f"exit code {exit_code}, {bad} tests failed", junk=junk)
    if results.form != "exit" and not good:
        return Verdict("failed", "exit code 0, but no test passed", junk=junk)
    return Verdict("passed", f"exit code 0, {good} tests passed", junk=junk)


class _Known:
    """Statuses by id, with what a listed id may have lost: everything from its first blank on."""

    def __init__(self, results: Results) -> None:
        self._exact: dict[str, Status] = {}
        self._cut: dict[str, list[Status]] = {}
        for name, status in results.statuses.items():
            plain = _plain(name)
            self._exact[plain] = status
            cut = re.split(r"\s|\\n", plain, maxsplit=1)[0]
            if cut != plain:
                self._cut.setdefault(cut, []).append(status)

    def passed(self, name: str) -> bool:
        """Whether the listed test passed; a cut id stands for every test that it begins."""
        plain = _plain(name)
        if plain in self._exact:
            return self._exact[plain] in GOOD
        cut = self._cut.get(plain) or self._cut.get(re.split(r"\s|\\n", plain, maxsplit=1)[0] if "::" in plain else "")
        return bool(cut) and all(status in GOOD for status in cut or ())


def _plain(name: str) -> str:
    """Line ends as pytest writes them, blanks at the ends dropped."""
    return name.replace("\r", "\\r").replace("\n", "\\n").strip()
