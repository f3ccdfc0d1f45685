"""The model client of a stage, from plain options."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rubrics import jsonio
from rubrics.errors import UsageError
from rubrics.models.client import Client, open_client
from rubrics.models.settings import ModelSettings
from rubrics.stages.options import Options

if TYPE_CHECKING:
    from rubrics.store.store import Store

CACHE = "model-cache.sqlite"
"""Replies that were accepted, finished work and what was spent; beside the manifest."""


@contextmanager
def open_model(options: Options, store: Store) -> Iterator[Client]:
    """The one client of a process, with the store's cache. Raises `UsageError` when no model is named."""
    with open_client(model_settings(options), store.paths.root / CACHE) as client:
        yield client


def _field(said: str) -> tuple[str, Any]:
    name, equals, text = said.partition("=")
    try:
        return name, jsonio.loads(text)
    except ValueError:
        problem = "is no JSON" if equals else "is missing"
        raise UsageError(f"--extra {said!r}: the value {problem}; write NAME=JSON, text in double quotes") from None


def _price(said: tuple[float, ...]) -> tuple[float, float, float] | None:
    """Input, output, cached input; cached tokens cost what others do where no third price is given."""
    if not said:
        return None
    return said[0], said[1], said[2] if len(said) > 2 else said[0]


def model_settings(options: Options) -> ModelSettings:
    """The settings that the options describe."""
    if options.model is None:
        raise UsageError("no model is named; give --model NAME, and --base-url for an endpoint of your own")
    return ModelSettings(
        model=options.model,
        base_url=options.base_url,
        api_key_env=options.api_key_env,
        temperature=options.temperature,
        top_p=options.top_p,
        seed=options.sampling_seed,
        max_tokens=options.max_tokens,
        timeout=options.request_timeout,
        stream=options.stream,
        concurrency=options.concurrency,
        requests_per_minute=options.requests_per_minute,
        tokens_per_minute=options.tokens_per_minute,
        max_cost=options.max_cost,
        price=_price(options.price),
        answers_as=options.answers_as,
        extra=tuple(map(_field, options.extra)),
    )
