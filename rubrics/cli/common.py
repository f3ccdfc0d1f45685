"""Options that several commands share, and how a command runs its flow."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from rubrics.errors import UsageError
from rubrics.stages.options import GROUPINGS, Options, judge_kind
from rubrics.store.presence import require

Command = TypeVar("Command", bound=Callable[..., Any])
DEFAULT_STORE = "rubrics-store"


def _there(ctx: click.Context, param: click.Parameter, store: str) -> str:
    """A mistyped store is refused before anything is loaded that reads one."""
    require(Path(store))
    return store


_store = partial(
    click.option, "--store", default=DEFAULT_STORE, show_default=True, metavar="DIR", help="Folder of the store."
)
store_option = _store()
known_store_option = _store(callback=_there)
"""For commands that only make sense where a store is."""
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object for machines; no progress.")
runner_option = click.option(
    "--runner",
    type=click.Choice(("local", "prefect")),
    help="Who runs the chunks: threads of this process, or Prefect.  [default: prefect where PREFECT_API_URL is set]",
)
_SHARED = {
    "tasks": click.option("--tasks", default="*", metavar="GLOB", help="Only tasks whose id matches."),
    "limit": click.option("--limit", type=int, metavar="N", help="At most N tasks."),
    "workers": click.option(
        "--workers", type=int, default=2, show_default=True, metavar="N", help="Chunks under way at once."
    ),
    "runner": runner_option,
    "group_by": click.option(
        "--group-by",
        type=click.Choice(GROUPINGS),
        default="task",
        show_default=True,
        help="What a group is where the dump names none.",
    ),
    "trust_recorded": click.option(
        "--trust-recorded",
        is_flag=True,
        help="Count what rows say was measured of their own attempt: resolved, target, reward.",
    ),
    "study": click.option(
        "--study", type=int, default=4, show_default=True, metavar="N", help="Attempts to study per task."
    ),
    "study_from": click.option(
        "--study-from",
        multiple=True,
        metavar="DUMP",
        help="Study the attempts of this dump instead; they are not scored.",
    ),
    "seed": click.option(
        "--seed", type=int, default=0, show_default=True, help="Seed of the choice of studied attempts."
    ),
    "factors": click.option(
        "--factors",
        metavar="LIST",
        help="Scores the reward multiplies.  [default: those of the configuration: solution,behavior]",
    ),
    "config": click.option(
        "--config", metavar="FILE", help="TOML with the reward settings that are to differ (docs/rewards.md)."
    ),
    "drop_duplicates": click.option(
        "--drop-duplicates", is_flag=True, help="Leave out rollouts that repeat another's patch and transcript."
    ),
    "resynthesize": click.option("--resynthesize", is_flag=True, help="Write rubrics anew where the store has some."),
}


def shared(*names: str) -> Callable[[Command], Command]:
    """Decorator: the named shared options, `--store` and `--json`."""

    def decorate(command: Command) -> Command:
        for option in (json_option, *(_SHARED[name] for name in reversed(names)), store_option):
            command = option(command)
        return command

    return decorate


def options_from(values: dict[str, Any]) -> Options:
    """Checked options, with every path absolute: the working folder is left before a flow starts."""
    absolute: dict[str, Any] = {
        name: tuple(str(Path(item).absolute()) for item in values[name])
        for name in ("dumps", "study_from", "data", "from_logs")
        if name in values
    }
    name = values.get("api_key_env")
    if name and not os.environ.get(name):
        raise UsageError("--api-key-env: the environment has no variable of this name; give its name, never the key")
    if values.get("config"):
        absolute["config"] = str(Path(values["config"]).absolute())
    if values.get("factors") is not None:
        values = {**values, "factors": tuple(item.strip() for item in values["factors"].split(",") if item.strip())}
    values = {name: value for name, value in values.items() if name != "runner"}
    return Options.from_dict({**values, **absolute, "store": str(Path(values["store"]).absolute())})


def run_flow_with_progress(name: str, options: Options, quiet: bool, runner: str | None = None) -> dict[str, int]:
    """Run a flow (see `rubrics.cli.launcher.run_flow`); progress goes to standard error, on a terminal as one line that
    changes."""
    from rubrics.cli.launcher import run_flow

    _refuse(name, options)
    if not options.dumps:
        from rubrics.store.store import Store

        Store.open(Path(options.store))  # a damaged store is refused before a server is started

    logger = logging.getLogger("rubrics")
    handler = _Progress()
    logger.addHandler(handler)
    logger.propagate = False  # Prefect puts a console handler of its own on the root logger
    logger.setLevel(logging.WARNING if quiet else logging.INFO)
    try:
        if not quiet:
            logger.info("starting")
        done: dict[str, int] = run_flow(name, options.to_dict(), runner)
        return done
    finally:
        handler.end()
        logger.removeHandler(handler)
        logger.propagate = True


def _refuse(flow: str, options: Options) -> None:
    """Raises `UsageError` for options that the flow would refuse, before anything is loaded that does the work."""
    if not options.dumps:
        require(Path(options.store))
    if flow in ("run_pipeline", "score_rollouts"):
        judge_kind(options)
    if flow in ("run_pipeline", "compute_rewards"):
        from rubrics.stages.reward_config import reward_config

        reward_config(options)
    if options.model is not None:
        from rubrics.stages.models import model_settings

        model_settings(options)  # an address with a password is refused before Prefect records it


class _Progress(logging.Handler):
    """Plain lines; on a terminal each takes the place of the one before."""

    def emit(self, record: logging.LogRecord) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{record.getMessage()}")
        elif "done" not in record.getMessage():
            sys.stderr.write(f"{record.getMessage()}\n")
        sys.stderr.flush()

    def end(self) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
