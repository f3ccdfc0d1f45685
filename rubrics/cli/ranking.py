"""`rubrics rank`: put the passes of each group side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from rubrics.cli.common import options_from, run_flow_with_progress, shared
from rubrics.cli.models import model_options, rank_options
from rubrics.cli.printing import print_census, print_groups, print_rows
from rubrics.cli.testing import environment_options

_GROUPS = """
    SELECT
      rankings.task_id, rankings.group_id, any_value(source_group) AS source_group,
      count(DISTINCT rollout_id) AS passes, any_value(judge) AS judge,
      count(DISTINCT round) AS rounds, count(DISTINCT round) FILTER (usable) AS usable,
      coalesce(string_agg(DISTINCT failure_class, ', ' ORDER BY failure_class), '') AS failures
    FROM rankings LEFT JOIN rollouts USING (rollout_id)
    GROUP BY rankings.task_id, rankings.group_id ORDER BY usable, rankings.task_id, rankings.group_id
"""


@click.command()
@rank_options
@model_options
@environment_options
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of orders, labels and slices.")
@shared("tasks", "limit", "config", "drop_duplicates", "workers", "runner")
def rank(as_json: bool, **values: Any) -> int:
    """Put the passes of every group with mixed outcomes side by side, in rounds, and store five checks of each.

    \b
    rubrics rank --model gpt-x --store rubrics-demo --data data/sample
    rubrics rank --model local --base-url http://127.0.0.1:8000/v1 --rank-mode single

    `rubrics reward` then moves advantage to the better passes. Exit code 1 when a group has less than half of its
    rounds usable; its advantages stay plain. A rerun asks again for what failed only.
    """
    from rubrics.errors import UsageError

    options = options_from(values)
    if options.model is None:
        raise UsageError("rank asks a model; give --model NAME, and --base-url for an endpoint of your own")
    done = run_flow_with_progress("rank_groups", options, as_json, values["runner"])
    from rubrics.store.store import Store

    store = Store.open(Path(options.store))
    groups = store.query(_GROUPS).to_pylist()
    bias = store.query("FROM position_bias").to_pylist()
    census = store.query("FROM census_totals WHERE stage = 'rank'").to_pylist()
    if as_json:
        found = {"store": options.store, "done": done, "groups": groups, "position_bias": bias, "census": census}
        click.echo(json.dumps(found))
    else:
        print_groups(groups, "FROM rankings")
        click.echo("Position bias, in points of W (20 to 100)")
        print_rows(bias)
        print_census(census)
    return 0 if all(2 * row["usable"] >= row["rounds"] for row in groups) else 1
