"""The commands that read a store and change nothing in it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from rubrics.cli.common import json_option, known_store_option
from rubrics.cli.printing import FIRST, print_rows
from rubrics.errors import UsageError

FORMATS = ("csv", "jsonl", "json", "markdown", "parquet")
"""Written out so that `--help` imports nothing; a test compares."""


@click.command()
@click.argument("sql")
@known_store_option
@click.option(
    "--output",
    metavar="FILE",
    help="Write all rows to FILE (.csv, .parquet, .jsonl, .json, .md); - is standard output.",
)
@click.option("--format", "form", type=click.Choice(FORMATS), help="Form of all rows, whatever FILE is called.")
@json_option
def query(sql: str, store: str, output: str | None, form: str | None, as_json: bool) -> None:
    """Ask the store in SQL (DuckDB). The query reaches the store's views and nothing else.

    \b
    rubrics query "FROM rewards WHERE status <> 'ok'"
    rubrics query "SELECT task_id, avg(reward) FROM rewards GROUP BY ALL" --output means.csv
    rubrics query "FROM census_totals" --format markdown

    Prints the first 40 rows, as a table where that fits, else a line per value. --output and --format give all.
    """
    from rubrics.store.output import write_output
    from rubrics.store.store import Store

    table = Store.open(Path(store)).query(sql)
    if output and output != "-":
        write_output(table, Path(output), form)
        click.echo(f"{table.num_rows} rows written to {output}")
    elif output or form:
        _to_standard_output(table, form or "csv")
    elif as_json:
        print_rows(table.to_pylist(), as_json=True)
    else:
        print_rows(table.slice(0, FIRST).to_pylist())
        if table.num_rows > FIRST:
            click.echo(f"... and {table.num_rows - FIRST} rows more, of {table.num_rows}: --output FILE writes all")


def _to_standard_output(table: Any, form: str) -> None:
    from rubrics.store.output import write_text
    from rubrics.visible import visible

    if form == "parquet":
        raise UsageError("--format parquet is not for standard output; name a file with --output")
    write_text(table, sys.stdout, form, visible if sys.stdout.isatty() else lambda text: text)


@click.command()
@known_store_option
def report(store: str) -> None:
    """Write the static report (report.html in the store)."""
    from rubrics.report.write import write_report
    from rubrics.store.store import Store

    click.echo(write_report(Store.open(Path(store))))


@click.command()
@click.argument("rollout")
@known_store_option
@json_option
def show(rollout: str, store: str, as_json: bool) -> None:
    """Why this reward: every criterion with verdict and evidence, then the arithmetic line by line.

    ROLLOUT is a rollout_id or the beginning of one, the dump's own id of it, or `task/run`.
    """
    from rubrics.report.explain import explain
    from rubrics.report.text import as_text
    from rubrics.store.store import Store

    explained = explain(Store.open(Path(store)), rollout)
    if as_json:
        print_rows([explained], as_json=True)
    else:
        click.echo(as_text(explained))
