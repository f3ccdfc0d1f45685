"""What each flow does. A runner says how chunks are run: threads of this process, or tasks of an orchestrator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rubrics.errors import UsageError
from rubrics.stages.pipeline import run_stages
from rubrics.stages.preparing import run_prepare
from rubrics.stages.stage import Submit

STAGES: Mapping[str, tuple[str, ...]] = {
    "run_pipeline": ("ingest", "facts", "synthesize", "score", "audit", "reward"),
    "ingest_rollouts": ("ingest", "facts"),
    "prepare_environments": ("prepare",),
    "run_tests": ("test",),
    "synthesize_rubrics": ("synthesize",),
    "score_rollouts": ("score",),
    "audit_rollouts": ("audit",),
    "rank_groups": ("rank",),
    "compute_rewards": ("reward",),
}
"""The stages of each flow, in order; options may add some (`rubrics.stages.pipeline.planned`)."""


def run_plan(flow: str, options: dict[str, Any], submit: Submit) -> dict[str, int]:
    """Run the stages of a flow; returns how many rollouts (`prepare`: tasks) each did.

    `options`: the fields of `rubrics.stages.options.Options`. Raises `UsageError` when there is no such flow.
    """
    if flow not in STAGES:
        raise UsageError(f"flow {flow!r} is not there; known: {', '.join(sorted(STAGES))}")
    if flow == "prepare_environments":
        return run_prepare(options, submit)
    return run_stages(STAGES[flow], options, submit)
