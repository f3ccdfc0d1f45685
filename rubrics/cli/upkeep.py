"""The commands that look after a store."""

from __future__ import annotations

from pathlib import Path

import click

from rubrics.cli.common import json_option, store_option
from rubrics.cli.printing import print_rows


@click.command()
@store_option
@click.option("--models", is_flag=True, help="Instead: what models were asked for, by purpose, and what that cost.")
@json_option
def status(store: str, models: bool, as_json: bool) -> None:
    """What the store holds: tables, rows, versions."""
    from rubrics.store.store import Store

    opened = Store.open(Path(store))
    if models:
        from rubrics.models.account import account
        from rubrics.stages.models import CACHE

        print_rows(account(opened.paths.root / CACHE), as_json)
        return
    manifest = opened.manifest()
    rows = []
    for name, versions in sorted(manifest.tables.items()):
        now = versions[-1]
        older = len(versions) - 1
        rows.append({"table": name, "rows": now.rows, "parts": len(now.parts), "run": now.run_id, "older": older})
    print_rows(rows, as_json)


@click.command()
@store_option
@click.option(
    "--environments", is_flag=True, help="Instead: remove what killed runs left of environments, and cached images."
)
def clean(store: str, environments: bool) -> None:
    """Delete older versions, what killed runs left behind, and prepared environments that no row names."""
    if environments:
        from rubrics.stages.cleaning import clean_all

        counts = clean_all()
        click.echo(", ".join(f"{count} {name}" for name, count in counts.items()) + " removed")
        return
    from rubrics.stages.cleaning import clean_prepared
    from rubrics.store.store import Store

    found = Store.open(Path(store))
    gone = found.clean()
    states = clean_prepared(found)
    click.echo(f"{gone} files deleted" + (f", {states} prepared states removed" if states else ""))
