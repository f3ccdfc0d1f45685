"""What a run of tests said, before anybody asks which tests matter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

Status = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
STATUSES: tuple[str, ...] = get_args(Status)
GOOD: frozenset[str] = frozenset({"passed", "xfailed", "xpassed"})
BAD: frozenset[str] = frozenset({"failed", "error"})

Unread = Literal[
    "runner_missing",  # the runner never started: no such command, no such module
    "not_closed",  # the runner did not write its end: the run was cut off, or the log was
    "totals_differ",  # the runner's own totals do not agree with the tests that are listed
    "two_runs",  # several runs in one log, and the last one does not settle the listed tests
    "no_results",  # nothing names tests: an unknown form, or a form that only counts
    "names_not_found",  # the run is whole, and holds no test of a listed name
    "xfail_by_call",  # an expected failure that the code under test may have raised itself
    "malformed",  # a report that is not what its form demands
    "too_large",  # reading it took more time or memory than a reader may have
]
"""Why results, or a verdict on them, are not known."""


@dataclass(frozen=True, slots=True)
class Results:
    """Statuses by test id, and whether the run can be believed to have ended by itself."""

    form: str
    """Reader that gave them: `pytest`, `unittest`, `go`, `junit`, `tap`, ..., or `exit` for the exit code alone."""
    statuses: Mapping[str, Status] = field(default_factory=dict)
    problem: str | None = None
    """Why nothing of this counts, for people; null when the runner's totals agree with what it lists."""
    kind: Unread | None = None
    """Class of the problem. A problem without one is a run that did not end by itself (`unread`)."""
    complete: bool = True
    """Whether every test that passed is named. A run that prints dots names at most its failures."""
    described: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What else the runner calls tests (the first line of a docstring, a title without its group): ids of each."""
    broken: frozenset[str] = frozenset()
    """Files, modules and classes whose tests could not be begun, by the runner's own word; `""` stands for every
    test without a status: what they stand in did not compile."""
    called: frozenset[str] = frozenset()
    """Tests whose expected failure was raised by a call, as code under test could do."""
    runs: int = 1
    """Runs in the log; these are the results of the last."""

    @property
    def unread(self) -> Unread | None:
        """Class of the problem; null when there is none."""
        return (self.kind or "not_closed") if self.problem is not None else None


def worst(statuses: list[Status]) -> Status:
    """One status for a test that is named several times: it passed only if every one did."""
    order: tuple[Status, ...] = ("failed", "error", "skipped", "xfailed", "xpassed", "passed")
    return next(status for status in order if status in statuses)


def gathered(pairs: Iterable[tuple[str, Status]]) -> dict[str, Status]:
    """Statuses by id, the worst of each id's."""
    by_id: dict[str, list[Status]] = {}
    for name, status in pairs:
        by_id.setdefault(name, []).append(status)
    return {name: worst(found) for name, found in by_id.items()}


def grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Ids by what else they are called."""
    found: dict[str, dict[str, None]] = {}
    for name, test in pairs:
        found.setdefault(name, {})[test] = None
    return {name: tuple(tests) for name, tests in found.items()}
