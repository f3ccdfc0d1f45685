"""Options of the commands that ask a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from rubrics.stages.options import AUTHORS, JUDGES, RANK_MODES

Command = TypeVar("Command", bound=Callable[..., Any])


def _price(_: click.Context, __: click.Parameter, value: str | None) -> tuple[float, ...]:
    if value is None:
        return ()
    try:
        parts = tuple(float(part) for part in value.split(","))
    except ValueError:
        parts = ()
    if len(parts) not in (2, 3) or not all(part >= 0 for part in parts):
        raise click.BadParameter(f"{value!r}; wanted IN,OUT or IN,OUT,CACHED in dollars per million tokens")
    return parts


def _temperature(_: click.Context, __: click.Parameter, value: str) -> float | None:
    if value == "none":
        return None
    try:
        return float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r}; wanted a number, or none") from None


_MODEL = (
    click.option("--model", metavar="NAME", help="Model to ask, as litellm names it; any name with --base-url."),
    click.option(
        "--base-url", metavar="URL", envvar="RUBRICS_BASE_URL", help="OpenAI-compatible endpoint to ask instead."
    ),
    click.option("--api-key-env", metavar="VAR", help="Environment variable with the key.  [default: the provider's]"),
    click.option(
        "--temperature", callback=_temperature, default="0", show_default=True, metavar="T",
        help="A number, or `none` for models that refuse it.",
    ),
    click.option("--top-p", type=float, metavar="P", help="Share of probability that answers are drawn from."),
    click.option("--sampling-seed", type=int, metavar="N", help="Seed sent with every request."),
    click.option("--max-tokens", type=int, metavar="N", help="Tokens of one answer."),
    click.option(
        "--context", type=int, default=128_000, show_default=True, metavar="N", help="Tokens that fit into the model."
    ),
    click.option(
        "--answers-as", multiple=True, metavar="NAME", help="A further name under which the model may answer."
    ),
    click.option(
        "--extra", multiple=True, metavar="NAME=JSON", help="A further field of every request."
    ),
    click.option("--stream", is_flag=True, help="Ask for streamed answers, for endpoints that need it."),
    click.option(
        "--concurrency", type=int, default=32, show_default=True, metavar="N", help="Requests in flight at once."
    ),
    click.option("--requests-per-minute", type=int, metavar="N"),
    click.option("--tokens-per-minute", type=int, metavar="N"),
    click.option(
        "--request-timeout", type=float, default=600.0, show_default=True, metavar="S", help="Seconds for one request."
    ),
    click.option(
        "--max-cost", type=float, metavar="USD", help="What this store may spend on models in all."
    ),
    click.option(
        "--price", callback=_price, metavar="IN,OUT[,CACHED]",
        help="Dollars per million tokens.  [default: from litellm's list]",
    ),
)  # fmt: skip


_AUTHOR = click.option(
    "--author", type=click.Choice(AUTHORS), default="builtin", show_default=True, help="Who writes the rubrics."
)
_JUDGE = (
    click.option(
        "--judge", type=click.Choice(JUDGES), help="Who judges.  [default: single with --model, else builtin]"
    ),
    click.option(
        "--repeats", type=int, default=1, show_default=True, metavar="N",
        help="Verdicts per criterion; their median counts.",
    ),
    click.option("--passes-only", is_flag=True, help="Ask a judge about rollouts only whose tests passed."),
)  # fmt: skip
_RANK = (
    click.option(
        "--rank-mode", type=click.Choice(RANK_MODES), default="agent", show_default=True,
        help="Rank with tools in the environment, or from one prompt.",
    ),
    click.option("--rounds", type=int, default=3, show_default=True, metavar="N", help="Rankings of each group."),
)  # fmt: skip
with_tests = click.option(
    "--with-tests", is_flag=True, help="First run the tests of every rollout that no run has tested."
)


def author_options(command: Command) -> Command:
    """Decorator: who writes rubrics."""
    return _AUTHOR(command)


def judge_options(command: Command) -> Command:
    """Decorator: who judges, and how often."""
    for option in reversed(_JUDGE):
        command = option(command)
    return command


def rank_options(command: Command) -> Command:
    """Decorator: how groups are ranked."""
    for option in reversed(_RANK):
        command = option(command)
    return command


def model_options(command: Command) -> Command:
    """Decorator: which model is asked, how fast, and for how much."""
    for option in reversed(_MODEL):
        command = option(command)
    return command
