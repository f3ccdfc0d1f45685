"""The task's tests on its own reference (on its start, where it has none): what a run of an attempt is held against."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from rubrics.environments.session import Session
from rubrics.errors import InfraError
from rubrics.records.tasks import Task
from rubrics.testing.bounded import Reader
from rubrics.testing.canaries import Planted
from rubrics.testing.compare import Verdict, compare
from rubrics.testing.flicker import moved_tests
from rubrics.testing.observe import Observed, observe, planted_for
from rubrics.testing.output import runner_missing
from rubrics.testing.plan import TestPlan
from rubrics.testing.results import BAD, Results

MOST_RUNS = 4
_Run: TypeAlias = tuple[Observed, Verdict]


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is known of a task's tests before an attempt is tried."""

    reference: Results | None = None
    """The reference's own run; null where the task has none."""
    canaries: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By key of a canary: the ids, its drawn name left out, under which it came to what it must come to."""
    recorded: bool = False
    """Whether the recorder reports the results; then a run that it does not report ended early."""
    readable: bool = False
    """Whether results could be read; then a run of which nothing can be read ended by the attempt's own doing."""
    limited: bool = False
    """Whether a limit ended it; then the same limit says nothing about an attempt."""
    changed: frozenset[str] = frozenset()
    """Objects of the runner that its own plug-ins and tests replace."""
    plugins: frozenset[str] = frozenset()
    left_out: tuple[str, ...] = ()
    """PASS_TO_PASS tests that the reference itself does not pass here: they decide nothing."""
    flickering: tuple[str, ...] = ()
    """Tests that came out differently in runs of the reference."""


def calibrate(
    task: Task, plan: TestPlan, opened: Callable[[], Session], timeout: float, reader: Reader, *, solved: bool
) -> Calibration:
    """Run the tests on the state that `opened` gives: the reference's when `solved`, else the task's start.

    Raises `InfraError` when no attempt could be judged here: the runner does not start, or the reference does not pass
    the tests that it must fix.
    """

    def run(planted: Planted) -> _Run:
        session = opened()
        try:
            seen = observe(session, plan, planted, timeout, reader)
        finally:
            session.close()
        code, own = seen.done.exit_code, seen.results if solved else None
        missing = None if seen.results.statuses else runner_missing(seen.done.output) or _no_command(code)
        if missing is not None:
            message = f"task {task.task_id}: its test command does not start here ({missing[:200]})"
            raise InfraError("runner_missing", f"{message}; install what it needs in the task's image")
        return seen, compare(seen.results, task.fail_to_pass, task.pass_to_pass, code, plan.restored, own)

    planted = planted_for(plan, None)
    runs = [run(planted)]
    while solved and not _is_settled(runs):
        runs.append(run(Planted() if len(runs) % 2 else planted))
    seen, verdict = next((pair for pair in reversed(runs) if pair[1].outcome == "passed"), runs[0])
    left_out = _left_out(task, [verdict for _, verdict in runs]) if solved and verdict.outcome != "passed" else ()
    moved = moved_tests(observed.results.statuses for observed, _ in runs if observed.results.problem is None)
    return Calibration(
        seen.results if solved else None, {} if _disturb(runs) else _canaries(runs[0::2]), seen.recorded,
        seen.results.problem is None and bool(seen.results.statuses), seen.done.limit is not None,
        seen.changed, seen.plugins, left_out,
        tuple(sorted(moved)),
    )  # fmt: skip


def _is_settled(runs: Sequence[_Run]) -> bool:
    """Runs with tests of ours and without take turns, four at most, until one with them passes."""
    seen, verdict = runs[-1]
    if seen.done.limit is not None or len(runs) == MOST_RUNS:
        return True
    return verdict.outcome == "passed" and (len(runs) % 2 == 1 or not runs[0][0].canaries)


def _disturb(runs: Sequence[_Run]) -> bool:
    """Whether the reference passes without tests of ours alone; a test that flickers fails beside them and without."""
    with_ours, alone = runs[0::2], runs[1::2]
    passed = [verdict.outcome == "passed" for _, verdict in alone]
    return bool(passed) and all(passed) and all(verdict.outcome != "passed" for _, verdict in with_ours)


def _canaries(runs: Sequence[_Run]) -> dict[str, frozenset[str]]:
    """Under which ids each came to what it must come to, in every run that held it."""
    found: dict[str, frozenset[str]] = {}
    for seen, _ in runs:
        for canary, statuses in seen.canaries.items():
            right = frozenset(place for place, status in statuses.items() if status in wanted(canary.kind))
            found[canary.key] = found.get(canary.key, right) & right
    return {key: places for key, places in found.items() if places}


def _left_out(task: Task, verdicts: list[Verdict]) -> tuple[str, ...]:
    """PASS_TO_PASS tests that no run of the reference passed. Raises `InfraError` for such a FAIL_TO_PASS test."""
    broken = set(verdicts[0].fail_to_pass).intersection(*(verdict.fail_to_pass for verdict in verdicts[1:]))
    lost = set(verdicts[0].pass_to_pass).intersection(*(verdict.pass_to_pass for verdict in verdicts[1:]))
    if broken or not lost:
        why = verdicts[0].why + (f", first {min(broken)}" if broken else "")
        message = f"task {task.task_id}: its reference does not pass its own tests here ({why[:250]})"
        raise InfraError("reference_fails", f"{message}; see `rubrics check-tasks`, correct the image or the task row")
    return tuple(sorted(lost))


def _no_command(exit_code: int | None) -> str | None:
    return f"exit code {exit_code}" if exit_code in (126, 127) else None


def wanted(kind: str) -> frozenset[str]:
    """Statuses that a canary of that kind must come to."""
    return {"skips": frozenset({"skipped"}), "passes": frozenset({"passed"})}.get(kind, BAD)
