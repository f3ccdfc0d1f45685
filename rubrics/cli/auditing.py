"""`rubrics audit`: look for leaks of the answer and gaming of the grader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from rubrics.cli.common import options_from, run_flow_with_progress, shared
from rubrics.cli.models import model_options
from rubrics.cli.printing import print_census, print_first


@click.command()
@model_options
@shared("tasks", "limit", "workers", "runner")
def audit(as_json: bool, **values: Any) -> int:
    """Look for leaks of the answer and gaming of the grader in every transcript and patch.

    With --model, the model then judges every suspicion, beside the other attempts at the task: it confirms with
    evidence that is checked, rejects, or leaves it open.

    Prints what was found, confirmed findings first. `rubrics reward` then counts a pass with a confirmed finding
    as an ordinary failure; a suspicion changes no reward.
    """
    options = options_from(values)
    done = run_flow_with_progress("audit_rollouts", options, as_json, values["runner"])
    from rubrics.store.store import Store

    store = Store.open(Path(options.store))
    found = store.query("FROM audit_findings").to_pylist()
    census = store.query("FROM census_totals WHERE stage = 'audit'").to_pylist()
    if as_json:
        click.echo(json.dumps({"store": options.store, "done": done, "findings": found, "census": census}, default=str))
        return 0
    print_first([_shown(row) for row in found], "findings", "FROM audit_findings")
    print_census(census)
    click.echo("Rollouts done: " + ", ".join(f"{stage} {count}" for stage, count in done.items()))
    return 0


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    shown = {name: row[name] for name in ("task_id", "run", "verdict", "kind", "reason")}
    return {**shown, "verdict": "rejected"} if row["rejected_by"] else shown
