"""What commands print: tables for people, JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rubrics.cli.tables import print_table
from rubrics.stages.options import Options
from rubrics.visible import one_line

FIRST = 40
"""Rows that a command prints of what it found."""


def print_rows(rows: Sequence[dict[str, Any]], as_json: bool = False) -> None:
    """Rows on standard output for people, or as a JSON list."""
    if as_json:
        from rubrics.store.output import plain

        click.echo(json.dumps(plain(list(rows)), indent=1, default=str))
        return
    if not rows:
        click.echo("(no rows)")
        return
    print_table(rows)


def print_first(rows: Sequence[dict[str, Any]], what: str, query: str) -> None:
    """The first rows as a table, and where to find the others."""
    print_rows(rows[:FIRST])
    if len(rows) > FIRST:
        click.echo(f"... and {len(rows) - FIRST} {what} more: rubrics query '{query}'\n")


def print_census(census: Sequence[dict[str, Any]]) -> None:
    click.echo("Census")
    print_rows(census)


def print_run(options: Options, done: dict[str, int], as_json: bool) -> int:
    """The account of a run; returns the exit code: 1 when some rollout has no reward or there is none, when a judge
    that was asked has no verdict, or when most of the dumps was not recognised, else 0."""
    from rubrics.stages.account import account_of
    from rubrics.store.scored import unjudged

    account = account_of(options.store, done)
    store, census, rewards = account.store, account.census, account.rewards
    if as_json:
        click.echo(
            json.dumps({"store": options.store, "done": done, "census": census, "rewards": rewards}, default=str)
        )
    else:
        _print_account(options, done, census, rewards)
    if account.with_rewards and not account.rollouts:
        click.echo("rubrics: no rollout was found to be scored; see the census, and --tasks if it was given", err=True)
    unread = _tell_of_ingest(store) if "ingest" in done else False
    without = "score" in done and unjudged(store)
    return 1 if unread or without or (account.with_rewards and (account.masked or not account.rollouts)) else 0


def _tell_of_ingest(store: Any) -> bool:
    """Say on standard error what of the dumps was not read; returns whether that is most of them."""
    from rubrics.ingest.account import account_of

    account = account_of(store.rows("census", where="stage = 'ingest'"), store.count("rollouts"))
    for line in account.lines:
        click.echo(f"rubrics: {one_line(line)}", err=True)
    return account.failed


def print_groups(rows: list[dict[str, Any]], query: str) -> None:
    """A line per group, by what the dump calls it: `group_id` is for joins, and is in what `query` gives."""
    hidden = {"group_id"} if any(row["source_group"] is not None for row in rows) else {"group_id", "source_group"}
    print_first([{name: row[name] for name in row if name not in hidden} for row in rows], "groups", query)


def _print_account(
    options: Options, done: dict[str, int], census: list[dict[str, Any]], rewards: list[dict[str, Any]]
) -> None:
    if rewards:
        click.echo("Rewards by group")
        print_groups(rewards, "FROM reward_by_task")
    print_census(census)
    store = Path(options.store)
    files = [name for name in ("manifest.json", "views.sql", "report.html") if (store / name).is_file()]
    click.echo(f"Store {store}: {', '.join(files)}, rubrics/*.yaml, tables/")
    click.echo("Rollouts done: " + ", ".join(f"{stage} {count}" for stage, count in done.items()))
