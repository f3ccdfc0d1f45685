"""Whether the agent reproduces, tests and reviews."""

from __future__ import annotations

import re
from typing import Any

from rubrics.facts.actions import Action
from rubrics.facts.lexing import has_any
from rubrics.facts.transcript_view import TranscriptView
from rubrics.vocabulary import Fact

CHECKS = (
    Fact("test_runs", "int", "actions", "Actions that run a test runner or a test file of the repository."),
    Fact("program_runs", "int", "actions",
         "Actions that run a script, a snippet or a program and write no file, tests not counted."),
    Fact("tests_run_before_edit", "bool", "yes/no",
         "Whether tests ran before the first source edit; null without a source edit."),
    Fact("tests_run_after_last_edit", "bool", "yes/no",
         "Whether tests ran after the last source edit; null without a source edit."),
    Fact("test_runs_failed", "int", "actions",
         "Test runs that failed by their observation or exit code; null when neither is known for any."),
    Fact("last_test_run_failed", "bool", "yes/no",
         "Whether the last test run failed by its observation or exit code; null without a test run or when neither is"
         " known."),
    Fact("edited_after_last_test", "bool", "yes/no",
         "Whether a source edit follows the last test run; null without a test run."),
    Fact("reproduction_before_edit", "bool", "yes/no",
         "Whether a script, a snippet or tests ran before the first source edit; null without a source edit."),
    Fact("reproduction_rerun_after_edit", "bool", "yes/no",
         "Whether a script or snippet that ran before the first source edit ran again after it; null when none ran "
         "before, or without a source edit."),
    Fact("checks_after_last_edit", "int", "actions",
         "Test runs, program runs, compilers and linters after the last source edit; null without one."),
    Fact("diff_reviewed", "bool", "yes/no",
         "Whether the agent looked at its diff or status (git diff, git status, a patch file) after the last source "
         "edit; null without one."),
)  # fmt: skip

_FAILED = re.compile(
    r"\b[1-9]\d{0,6} (?:failed|errors?)\b|^(?:FAILED|ERROR|FAIL|Traceback)\b|\bFAILED \(|^--- FAIL|^E  +\w"
    r"|\bnpm ERR!|\btest result: FAILED|\bcommand not found|\bNo module named\b",
    re.MULTILINE,
)
_FAILED_HINTS = (" failed", " error", "FAIL", "ERR", "Traceback", "E  ", "not found", "No module")
_SUMMARY = re.compile(r"\b\d{1,7} (?:passed|failed)\b")
_SUMMARY_HINTS = (" passed", " failed")
_PASSED = re.compile(r"^(?:(?:OK|ok|PASS)\b|test result: ok)", re.MULTILINE)
_PASSED_HINTS = ("OK", "ok", "PASS")
_TAIL = 2_000
_CHECKING = frozenset({"test", "run", "check"})


def measure_checks(view: TranscriptView) -> dict[str, Any]:
    """Values of `CHECKS`."""
    kinds = [action.kind for action in view.actions]
    tests = [place for place, kind in enumerate(kinds) if kind == "test"]
    results = [_failed(view, view.actions[place]) for place in tests]
    known = [result for result in results if result is not None]
    return {
        "test_runs": len(tests),
        "program_runs": kinds.count("run"),
        "test_runs_failed": sum(known) if known or not tests else None,
        "last_test_run_failed": results[-1] if results else None,
        "edited_after_last_test": any(edit > tests[-1] for edit in view.source_edits[-1:]) if tests else None,
        **_around_edits(view, kinds),
    }


def _around_edits(view: TranscriptView, kinds: list[Any]) -> dict[str, Any]:
    first, last = view.first_edit, view.last_edit
    if first is None or last is None:
        names = (
            "tests_run_before_edit", "tests_run_after_last_edit", "reproduction_before_edit",
            "reproduction_rerun_after_edit", "checks_after_last_edit", "diff_reviewed",
        )  # fmt: skip
        return dict.fromkeys(names)
    before, after = kinds[:first], kinds[last + 1 :]
    tried = {action.command for action in view.actions[:first] if action.kind == "run"}
    again = any(action.kind == "run" and action.command in tried for action in view.actions[first + 1 :])
    return {
        "tests_run_before_edit": "test" in before,
        "tests_run_after_last_edit": "test" in after,
        "reproduction_before_edit": "run" in before or "test" in before,
        "reproduction_rerun_after_edit": again if tried else None,
        "checks_after_last_edit": sum(kind in _CHECKING for kind in after),
        "diff_reviewed": "diff" in after,
    }


def _failed(view: TranscriptView, action: Action) -> bool | None:
    """What is known of a test run: a pipe hides its exit code, so the observation is read as well."""
    if view.failed(action):
        return True
    answer = view.turns[action.turn].observation
    if answer is not None:
        said = _said(answer[-_TAIL:])
        if said is not None:
            return said
    return view.failed(action)


def _said(tail: str) -> bool | None:
    """What the end of a test run's output says: its last summary line decides, else any sign of failure."""
    for line in reversed(_lines(tail, _SUMMARY_HINTS)):
        if _SUMMARY.search(line) is not None:
            return _FAILED.search(line) is not None
    if any(_FAILED.search(line) is not None for line in _lines(tail, _FAILED_HINTS)):
        return True
    return False if has_any(tail, _PASSED_HINTS) and _PASSED.search(tail) is not None else None


def _lines(text: str, hints: tuple[str, ...]) -> list[str]:
    """The lines that hold one of the hints: most outputs have few of them."""
    return [line for line in text.split("\n") if has_any(line, hints)] if has_any(text, hints) else []
