"""The commands that read a store and change nothing in it."""

from __future__ import annotations

from pathlib import Path

import click

from rubrics.cli.common import json_option, store_option
from rubrics.cli.printing import print_rows


@click.command()
@click.argument("sql")
@store_option
@click.option("--output", metavar="FILE", help="Write the rows to FILE (.csv or .parquet) instead.")
@json_option
def query(sql: str, store: str, output: str | None, as_json: bool) -> None:
    """Ask the store in SQL (DuckDB). The query reaches the store's views and nothing else.

    \b
    rubrics query "FROM rewards WHERE status <> 'ok'"
    rubrics query "SELECT task_id, avg(reward) FROM rewards GROUP BY ALL" --output means.csv
    """
    from rubrics.store.frames import write_frame
    from rubrics.store.store import Store

    table = Store.open(Path(store)).query(sql)
    if output:
        write_frame(table, Path(output))
        click.echo(f"{table.num_rows} rows written to {output}")
    else:
        print_rows(table.to_pylist(), as_json)


@click.command()
@store_option
def report(store: str) -> None:
    """Write the static report (report.html in the store)."""
    from rubrics.report.write import write_report
    from rubrics.store.store import Store

    click.echo(write_report(Store.open(Path(store))))


@click.command()
@click.argument("rollout")
@store_option
@json_option
def show(rollout: str, store: str, as_json: bool) -> None:
    """Why this reward: every criterion with verdict and evidence, then the arithmetic line by line.

    ROLLOUT is a rollout_id or the beginning of one, or `task/run`.
    """
    from rubrics.report.explain import explain
    from rubrics.report.text import as_text
    from rubrics.store.store import Store

    explained = explain(Store.open(Path(store)), rollout)
    if as_json:
        print_rows([explained], as_json=True)
    else:
        click.echo(as_text(explained))
