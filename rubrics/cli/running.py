"""The commands that run stages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rubrics.cli.common import json_option, options_from, run_flow_with_progress, runner_option, shared
from rubrics.cli.models import author_options, judge_options, model_options, rank_options, with_tests
from rubrics.cli.printing import print_run
from rubrics.cli.testing import environment_options

dumps_argument = click.argument("dumps", nargs=-1, required=True, metavar="DUMP...")


@click.command()
@dumps_argument
@author_options
@judge_options
@rank_options
@model_options
@with_tests
@environment_options
@shared(
    "tasks",
    "limit",
    "group_by",
    "trust_recorded",
    "study",
    "study_from",
    "seed",
    "factors",
    "config",
    "drop_duplicates",
    "resynthesize",
    "workers",
    "runner",
)
def run(as_json: bool, **values: Any) -> int:
    """From dumps to the reward table and the report: the main job.

    A DUMP is a file or a folder: task rows, predictions, trajectories, harness output, outcome files. What
    each is, is told by its content; give as many as there are.

    \b
    rubrics run specs.jsonl runs/ outcomes.json
    rubrics run today/ --store last-week      scored by the rubrics of that store
    rubrics run dumps/ --author model --model anthropic/claude-x --max-cost 20
    """
    return run_and_print("run_pipeline", values, as_json, with_report=True)


@click.command()
@click.option("--store", default="rubrics-demo", show_default=True, metavar="DIR", help="Folder of the store.")
@runner_option
@json_option
def demo(store: str, runner: str | None, as_json: bool) -> int:
    """The main job on the sample task set that comes with the program."""
    from rubrics.content import content_folder

    sample = content_folder("data") / "sample"
    dumps = tuple(str(sample / name) for name in ("tasks.jsonl", "runs", "outcomes.json"))
    values = {"store": store, "dumps": dumps, "resynthesize": True, "runner": runner}
    return run_and_print("run_pipeline", values, as_json, with_report=True)


@click.command()
@dumps_argument
@shared("tasks", "limit", "group_by", "trust_recorded", "runner")
def ingest(as_json: bool, **values: Any) -> int:
    """Add what dumps hold to the store and measure what is new; what they say otherwise replaces what was there.

    Test runs stay. Exit code 1 when most of the dumps was not recognised: what was, is in the census (`read_as`).
    """
    return run_and_print("ingest_rollouts", values, as_json)


@click.command()
@author_options
@judge_options
@model_options
@environment_options
@shared("tasks", "limit", "study", "study_from", "seed", "workers", "runner")
def synthesize(as_json: bool, **values: Any) -> int:
    """Study attempts and write both rubrics of every task, one YAML file each.

    With --author model, a model looks at the repository, the spec and the attempts; --judge tries its criteria.
    """
    return run_and_print("synthesize_rubrics", {**values, "resynthesize": True}, as_json)


@click.command()
@judge_options
@model_options
@with_tests
@environment_options
@shared("tasks", "limit", "workers", "runner")
def score(as_json: bool, **values: Any) -> int:
    """Score every rollout by the rubric files as they are now; writes no rubric.

    Rules are evaluated; criteria that need a judge are put before a model. What failed has no value, and a class;
    the same command again asks for that alone. Exit code 1 when a judge that was asked has no verdict.
    """
    return run_and_print("score_rollouts", values, as_json)


@click.command()
@click.option(
    "--judge", metavar="NAME", help="Whose grades: builtin, single:<model>, ...  [default: those of the last score]"
)
@shared("factors", "config", "drop_duplicates", "runner")
def reward(as_json: bool, **values: Any) -> int:
    """Compute the reward table from stored grades and outcomes."""
    return run_and_print("compute_rewards", values, as_json)


def run_and_print(flow: str, values: dict[str, Any], as_json: bool, with_report: bool = False) -> int:
    """Run a flow, write the report when asked, print the account; returns the exit code."""
    options = options_from(values)
    done = run_flow_with_progress(flow, options, as_json, values.get("runner"))
    if with_report:
        from rubrics.report.write import write_report
        from rubrics.store.store import Store

        write_report(Store.open(Path(options.store)))
    return print_run(options, done, as_json)
