"""The flows: one per plan of `rubrics.stages.plans`, all with the same typed parameter.

A flow run is named after its store and its tasks, its task runs after the stage and the chunk. At the end it makes two
artifacts (rewards by group; census and bill), and its final state says how many rollouts have no reward, and why.
Chunks that are finished stay finished: a flow run that is retried, or run anew, does the others.
"""

from __future__ import annotations

from pathlib import Path

from prefect import State, flow, task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.runtime import flow_run
from prefect.states import Completed

from rubrics.stages.account import account_of, as_markdown
from rubrics.stages.options import Options
from rubrics.stages.plans import run_plan
from rubrics.stages.pool import Pool


def run_name() -> str:
    """The store's folder and the chosen tasks."""
    options: Options = flow_run.parameters["options"]
    tasks = "all tasks" if options.tasks == "*" else f"tasks {options.tasks}"
    limit = "" if options.limit is None else f", at most {options.limit}"
    return f"{Path(options.store).name}: {tasks}{limit}"


@flow(flow_run_name=run_name)
def run_pipeline(options: Options) -> State[dict[str, int]]:
    """From dumps to the reward table."""
    return done_by("run_pipeline", options)


@flow(flow_run_name=run_name)
def ingest_rollouts(options: Options) -> State[dict[str, int]]:
    """Read rollout dumps into the store and measure every rollout."""
    return done_by("ingest_rollouts", options)


@flow(flow_run_name=run_name)
def prepare_environments(options: Options) -> State[dict[str, int]]:
    """Scrub every task's environment of what gives its answer away, and prove it."""
    return done_by("prepare_environments", options)


@flow(flow_run_name=run_name)
def run_tests(options: Options) -> State[dict[str, int]]:
    """Run the hidden tests of every rollout in its own environment."""
    return done_by("run_tests", options)


@flow(flow_run_name=run_name)
def synthesize_rubrics(options: Options) -> State[dict[str, int]]:
    """Study attempts and write the rubrics of every task."""
    return done_by("synthesize_rubrics", options)


@flow(flow_run_name=run_name)
def score_rollouts(options: Options) -> State[dict[str, int]]:
    """Score every rollout against its task's rubrics."""
    return done_by("score_rollouts", options)


@flow(flow_run_name=run_name)
def audit_rollouts(options: Options) -> State[dict[str, int]]:
    """Look for leaks of the answer and gaming of the grader."""
    return done_by("audit_rollouts", options)


@flow(flow_run_name=run_name)
def rank_groups(options: Options) -> State[dict[str, int]]:
    """Put the passes of each group side by side."""
    return done_by("rank_groups", options)


@flow(flow_run_name=run_name)
def compute_rewards(options: Options) -> State[dict[str, int]]:
    """Compute the reward table from stored grades and outcomes."""
    return done_by("compute_rewards", options)


def done_by(plan: str, options: Options) -> State[dict[str, int]]:
    """Run a plan, each chunk as a task, and tell of it; the state's data: rollouts (`prepare`: tasks) per stage."""
    with Pool(options.workers) as pool:
        chunk = task(pool.do, name="chunk", cache_policy=NO_CACHE, task_run_name="{job.stage} {job.chunk.label}")
        done = run_plan(plan, options.to_dict(), chunk.submit)
    account = account_of(options.store, done)
    if account.with_rewards:
        rows, said = account.first_rewards()
        create_table_artifact(rows, f"rewards-{account.slug}", said)
    create_markdown_artifact(as_markdown(account), f"account-{account.slug}", f"Census and bill of {options.store}")
    return Completed(message=account.sentence, data=dict(account.done))
