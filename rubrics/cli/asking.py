"""The commands about asking a model: what it would be sent, what that would cost, whether it answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from rubrics.cli.common import json_option, known_store_option, options_from, shared
from rubrics.cli.models import judge_options, model_options
from rubrics.cli.printing import print_rows
from rubrics.cli.testing import environment_options
from rubrics.stages.options import asking_judge
from rubrics.store.presence import require

_KIND = click.option("--judge", type=click.Choice(("single", "agent")), default="single", show_default=True)


@click.command("show-prompt")
@click.argument("rollout")
@_KIND
@known_store_option
@json_option
def show_prompt(rollout: str, judge: str, store: str, as_json: bool) -> None:
    """What a judge would be sent for a rollout, word for word; nobody is asked.

    ROLLOUT is a rollout_id or the beginning of one, the dump's own id of it, or `task/run`.
    """
    from rubrics.report.find import find
    from rubrics.stages.prompts import as_text, case_of, requests
    from rubrics.store.store import Store

    opened = Store.open(Path(store))
    options = options_from({"store": store, "judge": judge})
    listed = requests(judge, case_of(opened, find(opened, rollout), options), options)
    if as_json:
        bodies = [
            {"messages": list(item.messages), "tools": [tool.name for tool in item.tools], "schema": item.schema}
            for item in listed
        ]
        click.echo(json.dumps(bodies, indent=1))
    else:
        click.echo(as_text(listed))


@click.command()
@judge_options
@model_options
@shared("tasks", "limit")
def estimate(as_json: bool, **values: Any) -> None:
    """What `score` with these options would cost: requests, tokens, dollars. Nobody is asked.

    Prompts are made and counted as they would be sent; the length of answers is assumed, or taken from what this judge
    used before in this store. Low: the provider serves every shared beginning from its cache; high: none.
    """
    options = options_from(values)
    require(Path(options.store))
    asking_judge(options)
    from rubrics.stages.estimating import estimated
    from rubrics.store.store import Store

    basis, rows = estimated(Store.open(Path(options.store)), options)
    if not as_json:
        click.echo(basis)
    print_rows(rows, as_json)


@click.command()
@model_options
@environment_options
@json_option
def doctor(as_json: bool, **values: Any) -> int:
    """Whether what the commands need is there: environments, and with --model a model that answers in form.

    Sends the model one short question. Exit code 1 when something that was asked for does not work.
    """
    from rubrics.stages.doctor import examine

    rows = examine(options_from({"store": ".", **values}))
    print_rows(rows, as_json)
    return 1 if any(row["state"] == "broken" for row in rows) else 0
