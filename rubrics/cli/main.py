"""The command `rubrics`: its verbs, and what an error becomes."""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

import click

from rubrics import __version__
from rubrics.cli.asking import doctor, estimate, show_prompt
from rubrics.cli.auditing import audit
from rubrics.cli.exporting import export
from rubrics.cli.facts import facts
from rubrics.cli.preparing import prepare
from rubrics.cli.ranking import rank
from rubrics.cli.reading import query, report, show
from rubrics.cli.running import demo, ingest, reward, run, score, synthesize
from rubrics.cli.testing import check_tasks, test
from rubrics.cli.upkeep import clean, status
from rubrics.errors import RubricsError


class _InOrder(click.Group):
    """Lists the commands in the order of the work."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    cls=_InOrder,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.version_option(__version__, prog_name="rubrics")
def cli() -> None:
    """Rubrics, scores and reward tables for stored attempts of code agents.

    `rubrics run DUMP...` is the main job; `rubrics demo` runs it on the sample.

    Exit codes: 0 every rollout has a reward, 1 some have none, 2 bad usage or bad input.
    """


for command in (
    run, demo, ingest, facts, prepare, test, check_tasks, synthesize, score, audit, rank, reward, export, report, show,
    show_prompt, query, estimate, status, doctor, clean,
):  # fmt: skip
    cli.add_command(command)


def main() -> None:
    """Run the command; an expected error is one line on standard error and exit code 2."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        code = cli.main(standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"rubrics: {_one_line(error)}", err=True)
        code = 2
    except OSError as error:
        click.echo(f"rubrics: {error}; free the place, or name another", err=True)
        code = 2
    except RubricsError as error:
        click.echo(f"rubrics: {error}", err=True)
        code = 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("rubrics: stopped; the store holds what the stages before had finished", err=True)
        code = 130
    sys.exit(code)


def _one_line(error: click.ClickException) -> str:
    """What is wrong, and where the right way stands."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    place = f" `{context.command_path} --help` says what may stand there" if context else ""
    return " ".join(error.format_message().split()) + place


def _stop(*_: object) -> NoReturn:
    """Asked to end: end as after Ctrl-C, which stops the temporary server too."""
    raise KeyboardInterrupt
