"""`rubrics facts`: measure again, or describe the vocabulary."""

from __future__ import annotations

from pathlib import Path

import click

from rubrics.cli.common import json_option, store_option
from rubrics.cli.printing import print_rows
from rubrics.store.presence import require


@click.command()
@store_option
@click.option("--describe", is_flag=True, help="Print every fact and contrast: type, unit, meaning.")
@json_option
def facts(store: str, describe: bool, as_json: bool) -> None:
    """Measure every rollout in the store again, or describe what is measured."""
    if describe:
        from rubrics.contrasts.vocabulary import CONTRASTS
        from rubrics.facts.vocabulary import FACTS

        described = [
            {"name": fact.name, "type": fact.type, "unit": fact.unit, "meaning": fact.meaning}
            for fact in (*FACTS, *CONTRASTS)
        ]
        print_rows(described, as_json)
        return
    require(Path(store))
    from rubrics.stages.facts import Facts
    from rubrics.stages.options import Options
    from rubrics.stages.stage import drive, run_here
    from rubrics.store.store import Store

    opened = Store.open(Path(store))
    done = drive(Facts(opened, Options(store), again=True), opened, run_here, window=1)
    click.echo(f"{done} rollouts measured")
