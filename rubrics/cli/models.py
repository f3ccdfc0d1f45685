"""Options of the commands that ask a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

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


_MODEL = (
    click.option("--model", metavar="NAME", help="Model to ask, as litellm names it; any name with --base-url."),
    click.option(
        "--base-url", metavar="URL", envvar="RUBRICS_BASE_URL", help="OpenAI-compatible endpoint to ask instead."
    ),
    click.option("--api-key-env", metavar="VAR", help="Environment variable with the key.  [default: the provider's]"),
    click.option("--temperature", type=float, default=0.0, show_default=True, metavar="T"),
    click.option("--sampling-seed", type=int, metavar="N", help="Seed sent with every request."),
    click.option("--max-tokens", type=int, metavar="N", help="Tokens of one answer."),
    click.option(
        "--context", type=int, default=128_000, show_default=True, metavar="N", help="Tokens that fit into the model."
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


def model_options(command: Command) -> Command:
    """Decorator: which model is asked, how fast, and for how much."""
    for option in reversed(_MODEL):
        command = option(command)
    return command
