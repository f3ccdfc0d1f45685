"""The Test Anything Protocol: `ok 1 - name`, `not ok 2 - name`, and the plan `1..N`."""

from __future__ import annotations

import re

from rubrics.testing.results import Results, Status, gathered

_POINT = re.compile(r"^(not )?ok\b\s*(\d+)?\s*-?\s*(.*?)(?:\s*#\s*(skip|todo)\b.*)?$", re.IGNORECASE)
_PLAN = re.compile(r"^1\.\.(\d+)", re.MULTILINE)


def looks_like(text: str) -> bool:
    """Whether this is TAP: a plan and at least one point."""
    return _PLAN.search(text) is not None and any(_POINT.match(line) for line in text.splitlines())


def read(text: str) -> Results:
    """Statuses by description (by number where there is none); complete when the plan's count was met, once each."""
    plans = {int(match[1]) for match in _PLAN.finditer(text)}
    points = [match for line in text.splitlines() if (match := _POINT.match(line))]
    pairs = [(match[3] or str(number), _status(match)) for number, match in enumerate(points, 1)]
    if len(plans) != 1:
        return Results("tap", gathered(pairs), "TAP without one plan: the run ended before its end")
    planned = plans.pop()
    problem = None if planned == len(points) else f"TAP planned {planned} tests, {len(points)} are listed"
    return Results("tap", gathered(pairs), problem)


def _status(match: re.Match[str]) -> Status:
    word = (match[4] or "").lower()
    if word == "skip":
        return "skipped"
    if word == "todo":
        return "xfailed" if match[1] else "passed"
    return "failed" if match[1] else "passed"
