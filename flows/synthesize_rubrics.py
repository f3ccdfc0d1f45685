"""Study attempts and write the rubrics of every task."""

from __future__ import annotations

from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from rubrics.stages.plans import run_plan
from rubrics.stages.stage import run_job


@flow(validate_parameters=False)
def synthesize_rubrics(options: dict[str, Any]) -> dict[str, int]:
    """Rollouts done per stage. `options`: the fields of `rubrics.stages.options.Options`."""
    chunk = task(run_job, cache_policy=NO_CACHE, task_run_name="{job.stage} {job.chunk.label}")
    return run_plan("synthesize_rubrics", options, chunk.submit)
