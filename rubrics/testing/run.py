"""One run of a task's hidden tests in one environment."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from hashlib import sha256

from rubrics.environments.session import CommandResult, Environment, Session
from rubrics.errors import AttemptError, InfraError
from rubrics.records.outcomes import OutcomeName
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import SealedTask, Task
from rubrics.testing.compare import compare
from rubrics.testing.forms import Reporting
from rubrics.testing.plan import TestPlan, make_plan
from rubrics.testing.planted import put_back


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


def infra(error: InfraError, rung: str | None = None) -> TestRun:
    """The run of an environment that broke: no number."""
    return TestRun("infra", f"{error.kind}: {error}"[:500], {}, None, rung)


Original = Callable[[Task], Session | None]
"""Opens a task's start as it was before it was prepared; null where it was not."""


def plan_of(
    environment: Environment, task: Task, sealed: SealedTask | None, original: Original = lambda task: None
) -> TestPlan:
    """The task's plan, from its start, and from what that was before it was prepared. Raises `InfraError`."""
    with ExitStack() as opened:
        base = opened.enter_context(closing(environment.open(task, None)))
        before = original(task)
        if before is not None:
            opened.enter_context(closing(before))
        return make_plan(task, sealed, base, before)


def run_tests(environment: Environment, task: Task, plan: TestPlan, rollout: Rollout | None, timeout: float) -> TestRun:
    """Rebuild the state, put the tests in, run them. An environment that breaks gives outcome `infra`,
    an attempt that keeps its own state from being rebuilt `failed`."""
    rung = None
    try:
        session = environment.open(task, rollout)
        try:
            rung = session.rung
            return _run_in(session, task, plan, timeout)
        finally:
            session.close()
    except InfraError as error:
        return infra(error, rung)
    except AttemptError as error:
        return TestRun("failed", f"{error.kind}: {error}"[:500], {}, None, rung)


def _run_in(session: Session, task: Task, plan: TestPlan, timeout: float) -> TestRun:
    changed = put_back(session, plan.watched, frozenset(plan.files))
    put_files(session, plan)
    reporting = Reporting.of(plan.command, plan.report)
    reporting.prepare(session)
    done = session.run(reporting.command, timeout)
    results = reporting.results(session, done)
    verdict = compare(results, task.fail_to_pass, task.pass_to_pass, done.exit_code, plan.restored)
    detail = "; ".join([verdict.why, *_limit(done, timeout), *changed])
    return TestRun(verdict.outcome, detail[:500], dict(results.statuses), _digest(done), session.rung, done.seconds)


def put_files(session: Session, plan: TestPlan) -> None:
    """Write the plan's files; links and files that stand where their folders should be go first."""
    folders = sorted({path[:end] for path in plan.files for end, sign in enumerate(path) if sign == "/"})
    if folders:
        listed = " ".join(shlex.quote(folder) for folder in folders)
        session.run(f'for f in {listed}; do [ -d "$f" ] && [ ! -L "$f" ] || rm -f -- "$f"; done', 60.0)
    for path, content in sorted(plan.files.items()):
        if content is None:
            session.run(f"rm -rf -- {shlex.quote(path)}", 60.0)
        else:
            session.write(path, content)


def _limit(done: CommandResult, timeout: float) -> list[str]:
    return [] if done.limit is None else [f"limit: {done.limit}" + (f" of {timeout:g} s" if done.timed_out else "")]


def _digest(done: CommandResult) -> str:
    return sha256(done.output.encode("utf-8", "surrogatepass")).hexdigest()[:32]
