"""Look for leaks of the answer and gaming of the grader."""

from __future__ import annotations

from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from rubrics.stages.plans import run_plan
from rubrics.stages.stage import run_job


@flow(validate_parameters=False)
def audit_rollouts(options: dict[str, Any]) -> dict[str, int]:
    """Rollouts done per stage. `options`: the fields of `rubrics.stages.options.Options`."""
    chunk = task(run_job, cache_policy=NO_CACHE, task_run_name="{job.stage} {job.chunk.label}")
    return run_plan("audit_rollouts", options, chunk.submit)
