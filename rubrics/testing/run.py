"""One run of a task's hidden tests in one environment."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from hashlib import sha256

from rubrics.environments.session import CommandResult, Environment, Session
from rubrics.errors import AttemptError, InfraError
from rubrics.records.outcomes import OutcomeName
from rubrics.records.rollouts import Rollout, of_patch
from rubrics.records.tasks import SealedTask, Task
from rubrics.testing.bounded import Reader
from rubrics.testing.calibrate import Calibration, calibrate
from rubrics.testing.compare import compare, settled
from rubrics.testing.observe import Observed, observe, planted_for
from rubrics.testing.plan import AtBase, TestPlan, make_plan, opened, with_files_of
from rubrics.testing.restore import put_back
from rubrics.testing.subverted import Subversion, subversions

OWN_DOING = frozenset({"steering"})
"""Errors of a state that its rollout made: files of the tests cannot be put where base takes them."""


@dataclass(frozen=True, slots=True)
class TestRun:
    """What one run of the tests said of one state."""

    __test__ = False

    outcome: OutcomeName
    detail: str
    tests: dict[str, str]
    """Statuses by test id."""
    log_digest: str | None
    """sha256 of the output; the output itself is sealed and not kept."""
    rung: str | None
    seconds: float = 0.0
    subversions: tuple[Subversion, ...] = ()
    """What shows that the run did not decide by the tests."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything that runs of a task's tests share."""

    plan: TestPlan
    at_base: AtBase
    reader: Reader
    calibration: Calibration = field(default_factory=Calibration)


def infra(error: InfraError, rung: str | None = None) -> TestRun:
    """The run of an environment that broke: no number."""
    return TestRun("infra", f"{error.kind}: {error}"[:500], {}, None, rung)


Original = Callable[[Task], Session | None]
"""Opens a task's start as it was before it was prepared; null where it was not."""


def prepare_tests(
    environment: Environment,
    task: Task,
    sealed: SealedTask | None,
    timeout: float,
    original: Original = lambda task: None,
    reader: Reader | None = None,
) -> Prepared:
    """The plan of a task's tests, from its start, and how they come out on its reference. Raises `InfraError`."""
    prepared = uncalibrated(environment, task, sealed, original, reader)
    plan = prepared.plan
    reference = opened(sealed.reference_patch if sealed else None)
    state = of_patch(task.task_id, reference) if reference.strip() else None

    def calibrated(plan: TestPlan) -> Calibration:
        opener = lambda: environment.open(task, state)  # noqa: E731
        return calibrate(task, plan, opener, timeout, prepared.reader, solved=state is not None)

    found = calibrated(plan)
    if not found.canaries and found.reference is not None:
        wider = with_files_of(plan, task, found.reference, prepared.at_base)
        if wider is not plan:
            plan, found = wider, calibrated(wider)
    return replace(prepared, plan=plan, calibration=found)


def uncalibrated(
    environment: Environment,
    task: Task,
    sealed: SealedTask | None,
    original: Original = lambda task: None,
    reader: Reader | None = None,
) -> Prepared:
    """The same without a run of the reference: nothing of ours is put beside the tests. Raises `InfraError`."""
    plan = plan_of(environment, task, sealed, original)
    return Prepared(plan, AtBase(lambda: environment.open(task, None)), reader or Reader())


def plan_of(
    environment: Environment, task: Task, sealed: SealedTask | None, original: Original = lambda task: None
) -> TestPlan:
    """The task's plan, from its start, and from what that was before it was prepared. Raises `InfraError`."""
    with ExitStack() as stack:
        base = stack.enter_context(closing(environment.open(task, None)))
        before = original(task)
        if before is not None:
            stack.enter_context(closing(before))
        return make_plan(task, sealed, base, before)


def run_tests(
    environment: Environment, task: Task, prepared: Prepared, rollout: Rollout | None, timeout: float
) -> TestRun:
    """Rebuild the state, put the tests in, run them. An environment that breaks gives outcome `infra`,
    an attempt that keeps its own state from being rebuilt or worked with `failed`."""
    rung = None
    try:
        session = environment.open(task, rollout)
        try:
            rung = session.rung
            return _run_in(session, task, prepared, timeout)
        except InfraError as error:
            if error.kind not in OWN_DOING:
                raise
            return TestRun("failed", f"the tests cannot be put into its state: {error}"[:500], {}, None, rung)
        finally:
            session.close()
    except InfraError as error:
        return infra(error, rung)
    except AttemptError as error:
        return TestRun("failed", f"{error.kind}: {error}"[:500], {}, None, rung)


def _run_in(session: Session, task: Task, prepared: Prepared, timeout: float) -> TestRun:
    plan, calibration = prepared.plan, prepared.calibration
    put = put_back(session, plan.steering, plan.at_base, frozenset(plan.files), prepared.at_base)
    planted = planted_for(plan, frozenset(calibration.canaries))
    seen = observe(session, plan, planted, timeout, prepared.reader)
    run = _judged(task, plan, calibration, seen)
    detail = "; ".join([run.detail, *_limit(seen.done, timeout), *put])
    return replace(run, detail=detail[:500], rung=session.rung)


def _judged(task: Task, plan: TestPlan, calibration: Calibration, seen: Observed) -> TestRun:
    """What the run comes to: the verdict on the listed tests, unless something shows that they did not decide."""
    results = seen.results
    if calibration.recorded and not seen.recorded and results.problem is None:
        results = replace(results, problem="the run ended before the runner that the task's tests need began")
    kept = [name for name in task.pass_to_pass if name not in calibration.left_out]
    code, reference = seen.done.exit_code, calibration.reference
    verdict = compare(results, task.fail_to_pass, kept, code, plan.restored, reference)
    if calibration.readable or (seen.done.limit is not None and not calibration.limited):
        verdict = settled(verdict)
    found = subversions(calibration, seen)
    outcome: OutcomeName = verdict.outcome
    why = verdict.why
    if any(item.level == "confirmed" for item in found):
        outcome, why = "failed", f"the test run was subverted: {found[0].detail}"
    return TestRun(outcome, why, dict(results.statuses), _digest(seen.done), None, seen.done.seconds, tuple(found))


def _limit(done: CommandResult, timeout: float) -> list[str]:
    return [] if done.limit is None else [f"limit: {done.limit}" + (f" of {timeout:g} s" if done.timed_out else "")]


def _digest(done: CommandResult) -> str:
    return sha256(done.output.encode("utf-8", "surrogatepass")).hexdigest()[:32]
