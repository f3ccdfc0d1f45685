"""The command `rubrics`: its verbs, and what an error becomes."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import warnings
from contextlib import suppress
from typing import Any, NoReturn

import click

from rubrics import __version__
from rubrics.cli.asking import doctor, estimate, show_prompt
from rubrics.cli.auditing import audit
from rubrics.cli.exporting import export
from rubrics.cli.facts import facts
from rubrics.cli.failing import told
from rubrics.cli.preparing import prepare
from rubrics.cli.ranking import rank
from rubrics.cli.reading import query, report, show
from rubrics.cli.running import demo, ingest, reward, run, score, synthesize
from rubrics.cli.testing import check_tasks, test
from rubrics.cli.upkeep import clean, history, repair, restore, status


class _Ended(Exception):
    """Carries what ended a command past click, which would make an end of its own of it."""


class _Commands(click.Group):
    """Lists the commands in the order of the work."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (OSError, EOFError, KeyboardInterrupt) as error:
            raise _Ended from error


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.version_option(__version__, prog_name="rubrics")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Rubrics, scores and reward tables for stored attempts of code agents.

    `rubrics run DUMP...` is the main job; `rubrics demo` runs it on the sample.

    Exit codes: 0 every rollout has a reward, 1 some have none, 2 bad usage or bad input, 3 a fault of the program,
    130 stopped.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for command in (
    run, demo, ingest, facts, prepare, test, check_tasks, synthesize, score, audit, rank, reward, export, report, show,
    show_prompt, query, estimate, status, history, restore, repair, doctor, clean,
):  # fmt: skip
    cli.add_command(command)


def main() -> None:
    """Run the command; whatever ends it is one line on standard error and an exit code (`rubrics.cli.failing`)."""
    stop = _Stop()
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    try:
        code = cli.main(standalone_mode=False) or 0
        sys.stdout.flush()
    except SystemExit:
        raise
    except BaseException as error:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # it is ending
        ended = error.__cause__ if isinstance(error, _Ended) and error.__cause__ else error
        line, code = told(KeyboardInterrupt() if stop.asked else ended, sys.argv)
        if line:
            click.echo(f"rubrics: {line}", err=True)
        if code in (130, 141):
            _leave(code)
    sys.exit(code)


def _leave(code: int) -> NoReturn:
    """End at once: threads in the middle of a chunk are not waited for, what they wrote is of a run that is dropped."""
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(code)


def _say_nothing(what: object) -> None:
    pass


class _Stop:
    """What Ctrl-C and SIGTERM do. Remembered, because libraries make errors of it, DuckDB for one. What threads then
    say of their own end is kept from the terminal: one line says that it is stopped."""

    asked = False

    def __call__(self, *_: object) -> NoReturn:
        self.asked = True
        logging.disable()
        warnings.simplefilter("ignore")
        threading.excepthook = sys.unraisablehook = _say_nothing
        raise KeyboardInterrupt
