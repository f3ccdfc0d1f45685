"""The task's tests on its own reference (on its start, where it has none): what a run of an attempt is held against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from rubrics.environments.session import Session
from rubrics.errors import InfraError
from rubrics.records.tasks import Task
from rubrics.testing.bounded import Reader
from rubrics.testing.canaries import Planted
from rubrics.testing.compare import Verdict, compare
from rubrics.testing.observe import Observed, observe, planted_for
from rubrics.testing.output import runner_missing
from rubrics.testing.plan import TestPlan
from rubrics.testing.results import BAD, Results


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
    changed: frozenset[str] = frozenset()
    """Objects of the runner that its own plug-ins and tests replace."""
    plugins: frozenset[str] = frozenset()
    left_out: tuple[str, ...] = ()
    """PASS_TO_PASS tests that the reference itself does not pass here: they decide nothing."""


def calibrate(
    task: Task, plan: TestPlan, opened: Callable[[], Session], timeout: float, reader: Reader, *, solved: bool
) -> Calibration:
    """Run the tests on the state that `opened` gives: the reference's when `solved`, else the task's start.

    The reference runs up to three times: tests may flicker, and ours may disturb them. Raises `InfraError` when no
    attempt could be judged here: the runner does not start, or the reference does not pass the tests that it must fix.
    """

    def run(planted: Planted) -> tuple[Observed, Verdict]:
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

    planted = planted_for(plan, task.fail_to_pass, task.pass_to_pass, None)
    tried = [run(planted)]
    if solved:
        for ours in (Planted(), planted):
            if tried[-1][1].outcome != "passed":
                tried.append(run(ours))
    seen, verdict = next((pair for pair in reversed(tried) if pair[1].outcome == "passed"), tried[0])
    left_out: tuple[str, ...] = ()
    if solved and verdict.outcome != "passed":
        left_out = _left_out(task, [verdict for _, verdict in tried])
    return _calibration(seen, left_out, solved)


def _left_out(task: Task, verdicts: list[Verdict]) -> tuple[str, ...]:
    """PASS_TO_PASS tests that no run of the reference passed. Raises `InfraError` for such a FAIL_TO_PASS test."""
    broken = set(verdicts[0].fail_to_pass).intersection(*(verdict.fail_to_pass for verdict in verdicts[1:]))
    lost = set(verdicts[0].pass_to_pass).intersection(*(verdict.pass_to_pass for verdict in verdicts[1:]))
    if broken or not lost:
        why = verdicts[0].why + (f", first {min(broken)}" if broken else "")
        message = f"task {task.task_id}: its reference does not pass its own tests here ({why[:250]})"
        raise InfraError("reference_fails", f"{message}; see `rubrics check-tasks`, correct the image or the task row")
    return tuple(sorted(lost))


def _calibration(seen: Observed, left_out: tuple[str, ...], solved: bool) -> Calibration:
    canaries = {
        canary.key: ids
        for canary, found in seen.canaries.items()
        if (ids := frozenset(place for place, status in found.items() if status in wanted(canary.kind)))
    }
    return Calibration(
        seen.results if solved else None, canaries, seen.recorded,
        seen.results.problem is None and bool(seen.results.statuses),
        seen.changed, seen.plugins, left_out,
    )  # fmt: skip


def _no_command(exit_code: int | None) -> str | None:
    return f"exit code {exit_code}" if exit_code in (126, 127) else None


def wanted(kind: str) -> frozenset[str]:
    """Statuses that a canary of that kind must come to."""
    return {"skips": frozenset({"skipped"}), "passes": frozenset({"passed"})}.get(kind, BAD)
