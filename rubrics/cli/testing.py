"""The commands that run tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from rubrics.cli.common import options_from, shared
from rubrics.cli.printing import print_rows
from rubrics.store.presence import require

Command = TypeVar("Command", bound=Callable[..., Any])
_ENVIRONMENT = (
    click.option(
        "--env", type=click.Choice(("auto", "docker", "bubblewrap", "bare")), default="auto", show_default=True,
        help="Where rollouts run; auto takes docker, then bubblewrap.",
    ),
    click.option(
        "--env-mode", type=click.Choice(("rollout", "image")), default="rollout", show_default=True,
        help="Docker: a container per rollout, or one per image for dumps you trust more.",
    ),
    click.option("--trusted", is_flag=True, help="Every rollout may do what you may do; --env bare needs it."),
    click.option(
        "--data", multiple=True, default=(".",), show_default=True, metavar="DIR",
        help="Folder that relative paths in task rows start from; may be given several times.",
    ),
    click.option(
        "--timeout", type=float, default=1800.0, show_default=True, metavar="S", help="Seconds for one run of tests."
    ),
)  # fmt: skip


def environment_options(command: Command) -> Command:
    """Decorator: where and how rollouts are run."""
    for option in reversed(_ENVIRONMENT):
        command = option(command)
    return command


@click.command()
@environment_options
@click.option(
    "--repeat",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    help="Runs per rollout, to see which tests flicker.",
)
@click.option("--from-logs", multiple=True, metavar="DUMP", help="Read stored logs of this dump; run nothing.")
@shared("tasks", "limit", "workers", "runner")
def test(as_json: bool, **values: Any) -> int:
    """Rebuild every rollout, put the hidden tests in, run them; adds outcomes `run:<k>`.

    \b
    rubrics test --store rubrics-demo --data data/sample
    rubrics test --from-logs runs/        reads test_output.txt files instead
    """
    from rubrics.cli.running import run_and_print

    return run_and_print("run_tests", values, as_json)


@click.command("check-tasks")
@environment_options
@click.option(
    "--reruns", type=int, default=8, show_default=True, metavar="N", help="Runs of the reference, at least 4."
)
@shared("tasks", "limit")
def check_tasks(as_json: bool, reruns: int, **values: Any) -> int:
    """Try every task's gates: its start fails 2 of 2, its reference passes, all runs agree.

    Exit code 1 when a task does not pass.
    """
    options = options_from(values)
    require(Path(options.store))
    from dataclasses import asdict

    from rubrics.stages.check_tasks import CheckTasks
    from rubrics.stages.stage import drive, run_here
    from rubrics.store.store import Store

    store = Store.open(Path(options.store))
    stage = CheckTasks(store, options, reruns)
    drive(stage, store, run_here, window=1)
    rows = [{"task_id": gates.task_id, "passed": gates.passed, **asdict(gates)} for gates in stage.found]
    print_rows(rows, as_json)
    return 0 if all(gates.passed for gates in stage.found) else 1
