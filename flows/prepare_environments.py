"""Scrub every task's environment of what gives its answer away, and prove it."""

from __future__ import annotations

from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from rubrics.stages.plans import run_plan
from rubrics.stages.stage import run_job


@flow(validate_parameters=False)
def prepare_environments(options: dict[str, Any]) -> dict[str, int]:
    """Tasks done. `options`: the fields of `rubrics.stages.options.Options`."""
    chunk = task(run_job, cache_policy=NO_CACHE, task_run_name="{job.stage} {job.chunk.label}")
    return run_plan("prepare_environments", options, chunk.submit)
