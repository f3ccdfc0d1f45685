"""The commands that look after a store."""

from __future__ import annotations

from pathlib import Path

import click

from rubrics.cli.common import json_option, known_store_option
from rubrics.cli.printing import print_rows


@click.command()
@known_store_option
@click.option("--models", is_flag=True, help="Instead: what models were asked for, by purpose, and what that cost.")
@json_option
def status(store: str, models: bool, as_json: bool) -> None:
    """What the store holds: tables, rows, parts."""
    from rubrics.store.store import Store

    opened = Store.open(Path(store))
    if models:
        from rubrics.models.account import account
        from rubrics.stages.models import CACHE

        print_rows(account(opened.paths.root / CACHE), as_json)
        return
    tables = sorted(opened.manifest().tables.items())
    print_rows([{"table": name, "rows": now.rows, "parts": len(now.listed)} for name, now in tables], as_json)


@click.command()
@known_store_option
@json_option
def history(store: str, as_json: bool) -> None:
    """Every commit that can be brought back: number, time, stage, and the tables that it changed."""
    from rubrics.store.history import changes

    print_rows(changes(Path(store)), as_json)


@click.command()
@click.argument("commit", type=int)
@known_store_option
@json_option
def restore(commit: int, store: str, as_json: bool) -> None:
    """Make every table what it was after COMMIT (see `rubrics history`), and the rubric files with them.

    That is a commit of its own: what was there before can be brought back like everything else. A rubric file that was
    edited by hand is kept beside (.yaml.old). Nothing changes when a part or a text of then is gone or damaged.
    """
    from rubrics.stages.restoring import restore_commit

    made, rows = restore_commit(Path(store), commit)
    if not as_json:
        click.echo(f"{store}: commit {made} is commit {commit} again")
    print_rows(rows, as_json)


@click.command()
@known_store_option
@click.option("--check", is_flag=True, help="Only look: list every part that is damaged, write nothing.")
@json_option
def repair(store: str, check: bool, as_json: bool) -> int:
    """Make a lost or damaged manifest again from the history, and step back from parts that are damaged.

    Takes the newest version of each table all of whose parts are what was written, and prints which that is. Rubric
    files that a killed run left aside are put in place. Deletes nothing. Exit code 1 when a table had to step back or
    is lost; with --check, when anything is damaged.
    """
    from dataclasses import asdict

    from rubrics.store.repair import look_over
    from rubrics.store.repair import repair as write

    if check:
        damage = [asdict(item) for item in look_over(Path(store))]
        if damage or as_json:
            print_rows(damage, as_json)
        else:
            click.echo(f"{store}: every part is what was written")
        return 1 if damage else 0
    source, choices = write(Path(store))
    if not as_json:
        click.echo(f"{store}: manifest made from {source}")
    print_rows([asdict(item) for item in choices], as_json)
    return 1 if any(item.state in ("older", "lost") for item in choices) else 0


@click.command()
@known_store_option
@click.option(
    "--environments", is_flag=True, help="Instead: remove what killed runs left of environments, and cached images."
)
def clean(store: str, environments: bool) -> None:
    """Delete the history, what killed runs left behind, and prepared environments that no row names.

    No past commit can be brought back then, and a stage that was stopped does its finished chunks again.
    """
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
