"""The command that writes trainer files."""

from __future__ import annotations

from pathlib import Path

import click

from rubrics.cli.common import json_option, known_store_option
from rubrics.cli.printing import print_rows

NAMES = ("trl", "verl", "skyrl", "preferences", "parquet", "openrlhf", "nemo", "slime", "prime-rl", "reflection")
"""Written out so that `--help` imports no target; a test compares."""


@click.command()
@click.option("--to", "name", required=True, type=click.Choice(NAMES), metavar="NAME", help=f"Of {', '.join(NAMES)}.")
@click.option("--output", required=True, metavar="DIR", help="Folder to write.")
@known_store_option
@click.option(
    "--estimator",
    type=click.Choice(["mean", "std", "loo"]),
    help="What the trainer does with a group.  [default: mean]",
)
@click.option("--clip", nargs=2, type=float, metavar="LOW HIGH", help="Bounds the trainer clips rewards to.")
@click.option(
    "--trainer-config",
    "config",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the trainer, or a JSON or TOML file.",
)
@click.option(
    "--min-margin", type=float, default=0.0, show_default=True, help="preferences: smallest margin of a pair."
)
@click.option("--max-pairs", type=int, default=16, show_default=True, help="preferences: pairs per group at most.")
@click.option("--force", is_flag=True, help="Export although the trainer would compute other advantages.")
@click.option("--overwrite", is_flag=True, help="Take the place of an earlier export.")
@json_option
def export(
    name: str,
    output: str,
    store: str,
    estimator: str | None,
    clip: tuple[float, float] | None,
    config: tuple[str, ...],
    min_margin: float,
    max_pairs: int,
    force: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Write the kept groups as files that a trainer loads.

    Only valid rollouts of kept groups are written. The reward is reward_star: a trainer that subtracts the group's mean
    makes the stored advantage of it. A trainer that would make something else of it is refused with the reason.

    \b
    rubrics export --to trl --output trl-data --trainer-config scale_rewards=none
    rubrics export --to verl --output verl-data --trainer-config algorithm.norm_adv_by_std_in_grpo=False
    rubrics export --to preferences --output pairs --min-margin 0.1
    """
    from rubrics.exports.export import Trainer
    from rubrics.exports.export import export as write
    from rubrics.exports.target import Limits
    from rubrics.exports.targets import target_named
    from rubrics.store.store import Store

    if min_margin < 0 or max_pairs < 1:
        raise click.UsageError(f"--min-margin {min_margin:g} --max-pairs {max_pairs}: wanted >= 0 and >= 1")
    trainer, limits = Trainer(estimator, clip, config), Limits(min_margin, max_pairs)
    place = Path(output).absolute()
    written = write(Store.open(Path(store)), target_named(name), place, trainer, limits, force, overwrite)
    if as_json:
        print_rows([written], as_json=True)
        return
    click.echo(f"{written.get('rows', 0)} rows of {written['groups']} groups written to {place}")
    for key, value in written.get("settings", {}).items():
        click.echo(f"  set {key} = {value}" if value else f"  give {key}")
    if "warning" in written:
        click.echo(f"rubrics: warning: forced: {written['warning']}", err=True)
