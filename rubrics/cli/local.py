"""The runner of this machine: chunks in threads of this process, long stages in several processes, without a server."""

from __future__ import annotations

from typing import Any

from rubrics.stages.plans import run_plan
from rubrics.stages.pool import Pool


def run_local(flow: str, options: dict[str, Any]) -> dict[str, int]:
    """Run a flow's stages; returns how many rollouts each did."""
    with Pool(options["workers"]) as pool:
        return run_plan(flow, options, pool.submit)
