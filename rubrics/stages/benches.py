"""The judge of a run, made from options when a stage first wants it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rubrics import jsonio
from rubrics.errors import UsageError
from rubrics.judges.judge import Judge
from rubrics.records.judgements import Judgement
from rubrics.stages.environments import open_environment
from rubrics.stages.options import JUDGES, Options
from rubrics.stages.score import Bench
from rubrics.store.store import Store

if TYPE_CHECKING:
    from rubrics.models.client import Client

ENVIRONMENTS = 8
"""Environments that are open at once for agents: each may take its whole limit of memory."""


def judge_kind(options: Options) -> str:
    """Who judges: as asked for, else `single` when a model is named, else `builtin`. Raises `UsageError`."""
    kind = options.judge or ("single" if options.model else "builtin")
    if kind not in JUDGES:
        raise UsageError(f"--judge {kind!r}; wanted one of {', '.join(JUDGES)}")
    if kind != "builtin" and not options.model:
        raise UsageError(f"--judge {kind} asks a model; give --model NAME")
    return kind


@contextmanager
def open_bench(options: Options, store: Store, client: Client | None) -> Iterator[Bench | None]:
    """The judge that asks a model; null for the builtin one."""
    kind = judge_kind(options)
    if kind == "builtin" or client is None:
        yield None
        return
    sampling = jsonio.dumps(client.settings.sampling())
    if kind == "single":
        from rubrics.judges.single import SingleJudge

        judge: Judge = SingleJudge(client, options.context)
        yield Bench(judge, _together(client, options.concurrency), sampling)
        return
    from rubrics.judges.model_agent import AgentJudge

    with open_environment(options, store) as opener:
        judge = AgentJudge(client, opener)
        yield Bench(judge, _together(client, min(options.concurrency, ENVIRONMENTS)), sampling)


def _together(client: Client, most: int) -> Callable[[Sequence[Coroutine[Any, Any, Judgement]]], list[Judgement]]:
    async def bounded(listed: Sequence[Coroutine[Any, Any, Judgement]]) -> list[Judgement]:
        gate = asyncio.Semaphore(most)

        async def one(item: Coroutine[Any, Any, Judgement]) -> Judgement:
            async with gate:
                return await item

        return await asyncio.gather(*map(one, listed))

    return lambda listed: client.run(bounded(listed))
