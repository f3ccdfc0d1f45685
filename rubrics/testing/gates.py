"""The gates a task must pass before its tests can reward anybody (CodeMidas; method section 5)."""

from __future__ import annotations

from dataclasses import dataclass

from rubrics.environments.session import Environment
from rubrics.errors import InfraError
from rubrics.records.rollouts import of_patch
from rubrics.records.tasks import SealedTask, Task
from rubrics.testing.bounded import Reader
from rubrics.testing.flicker import moved_tests
from rubrics.testing.plan import opened
from rubrics.testing.run import Original, TestRun, run_tests, uncalibrated

START_RUNS = 2
REFERENCE_RUNS = 4


@dataclass(frozen=True, slots=True)
class Gates:
    """What a task's gates said. A gate is null when it could not be tried."""

    task_id: str
    start_fails: bool | None
    """The start state fails, each of 2 times."""
    reference_passes: bool | None
    """The reference passes, each of 4 times or more, in fresh environments."""
    stable: bool | None
    """Every run of the reference gave every test the same status, and so did every run of the start."""
    detail: str

    @property
    def passed(self) -> bool:
        return bool(self.start_fails and self.reference_passes and self.stable)


def check_task(
    environment: Environment,
    task: Task,
    sealed: SealedTask | None,
    timeout: float,
    reruns: int,
    original: Original = lambda task: None,
    reader: Reader | None = None,
) -> Gates:
    """Try the gates; the reference runs `reruns` times, at least 4."""
    reference = opened(sealed.reference_patch if sealed else None)
    try:
        plan = uncalibrated(environment, task, sealed, original, reader)
    except InfraError as error:
        return Gates(task.task_id, None, None, None, f"{error.kind}: {error}"[:500])
    start = [run_tests(environment, task, plan, of_patch(task.task_id, ""), timeout) for _ in range(START_RUNS)]
    if not reference.strip():
        return Gates(task.task_id, _all(start, "failed"), None, None, "the task has no reference patch")
    count = max(REFERENCE_RUNS, reruns)
    runs = [run_tests(environment, task, plan, of_patch(task.task_id, reference), timeout) for _ in range(count)]
    moved = sorted(_moved(runs) | _moved(start))
    broke = any(run.outcome == "infra" for run in (*start, *runs))
    said = [f"start: {start[0].detail}", f"reference: {_first_odd(runs).detail}"]
    said += [f"{len(moved)} tests change, first {moved[0]}"] if moved else []
    stable = None if broke else not moved
    return Gates(task.task_id, _all(start, "failed"), _all(runs, "passed"), stable, "; ".join(said)[:500])


def _all(runs: list[TestRun], wanted: str) -> bool | None:
    if any(run.outcome == "infra" for run in runs):
        return None
    return all(run.outcome == wanted for run in runs)


def _first_odd(runs: list[TestRun]) -> TestRun:
    return next((run for run in runs if run.outcome != "passed"), runs[0])


def _moved(runs: list[TestRun]) -> set[str]:
    return moved_tests(run.tests for run in runs)
