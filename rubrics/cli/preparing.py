"""`rubrics prepare`: scrub environments of what gives the answer away, and prove it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from rubrics.cli.common import options_from, run_flow_with_progress, shared
from rubrics.cli.models import model_options
from rubrics.cli.printing import print_census, print_first

_TABLE = """
    SELECT task_id, backend, rung, clean, findings, "open", rounds, coalesce(failure_class, '') AS failure,
           coalesce(probe_result, '') AS model_probe
    FROM environments ORDER BY clean NULLS FIRST, task_id
"""


@click.command()
@click.option(
    "--env", type=click.Choice(("auto", "docker", "bubblewrap")), default="auto", show_default=True,
    help="Where environments are opened; auto takes docker, then bubblewrap.",
)  # fmt: skip
@click.option(
    "--data", multiple=True, default=(".",), show_default=True, metavar="DIR",
    help="Folder that relative paths in task rows start from; may be given several times.",
)  # fmt: skip
@click.option("--config", metavar="FILE", help="TOML file with a table `preparation`: what is kept, what is searched.")
@model_options
@shared("tasks", "limit", "workers", "runner")
def prepare(as_json: bool, **values: Any) -> int:
    """Open every task's environment, remove what gives its answer away, prove that nothing is left.

    \b
    rubrics prepare --store rubrics-demo --data data/sample

    With --model, the model then enters each environment and tries to reach the answer; what it finds and code can prove
    is removed too.

    Exit code 1 when an environment is not clean, could not be prepared, or the model gave no report of it, and when
    there is no task to prepare.
    """
    options = options_from(values)
    done = run_flow_with_progress("prepare_environments", options, as_json, values["runner"])
    from rubrics.store.store import Store

    store = Store.open(Path(options.store))
    rows = store.query(_TABLE).to_pylist()
    census = store.query("FROM census_totals WHERE stage = 'prepare'").to_pylist()
    if as_json:
        click.echo(json.dumps({"store": options.store, "done": done, "environments": rows, "census": census}))
    else:
        print_first(rows, "environments", "FROM environments")
        print_census(census)
    empty = any(line["kind"] == "no_tasks" for line in census)
    done_well = all(row["clean"] and not row["model_probe"].startswith("unfinished_") for row in rows)
    return 0 if done_well and not empty else 1
