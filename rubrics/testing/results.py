"""What a run of tests said, before anybody asks which tests matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

Status = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
STATUSES: tuple[str, ...] = get_args(Status)
GOOD: frozenset[str] = frozenset({"passed", "xfailed", "xpassed"})
BAD: frozenset[str] = frozenset({"failed", "error"})


@dataclass(frozen=True, slots=True)
class Results:
    """Statuses by test id, and whether the run can be believed to have ended by itself."""

    form: str
    """Reader that gave them: `pytest`, `unittest`, `go`, `junit`, `tap` or `exit`."""
    statuses: Mapping[str, Status] = field(default_factory=dict)
    problem: str | None = None
    """Why the run does not count as complete: no closing summary, counts that differ, an exit code that contradicts."""


def worst(statuses: list[Status]) -> Status:
    """One status for a test that is named several times: it passed only if every one did."""
    order: tuple[Status, ...] = ("failed", "error", "skipped", "xfailed", "xpassed", "passed")
    return next(status for status in order if status in statuses)


def gathered(pairs: list[tuple[str, Status]]) -> dict[str, Status]:
    """Statuses by id, the worst of each id's."""
    by_id: dict[str, list[Status]] = {}
    for name, status in pairs:
        by_id.setdefault(name, []).append(status)
    return {name: worst(found) for name, found in by_id.items()}
