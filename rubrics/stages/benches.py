"""The judge of a run, made from options when a stage first wants it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from rubrics import jsonio
from rubrics.agents.loop import Bounds
from rubrics.judges.judge import Judge
from rubrics.judges.model_agent import AgentJudge, start_of
from rubrics.prompting.sizes import BYTES_PER_TOKEN
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Task
from rubrics.stages.environments import Opener, open_environment
from rubrics.stages.options import Options, judge_kind
from rubrics.stages.score import Bench
from rubrics.store.store import Store

if TYPE_CHECKING:
    from rubrics.models.client import Client


@contextmanager
def open_bench(options: Options, store: Store, client: Client | None) -> Iterator[Bench | None]:
    """The judge that asks a model; null for the builtin one."""
    kind = judge_kind(options)
    if kind == "builtin" or client is None:
        yield None
        return
    sampling = jsonio.dumps(client.settings.sampling())
    together = partial(client.run_all, limit=options.concurrency)
    if kind == "single":
        from rubrics.judges.single import SingleJudge

        judge: Judge = SingleJudge(client, options.room)
        yield Bench(judge, together, sampling)
        return

    with open_environment(options, store) as opener:
        bounds = Bounds(characters=int(options.room * BYTES_PER_TOKEN))
        judge = AgentJudge(client, opener, bounds, start=partial(_start, opener))
        yield Bench(judge, together, sampling, opener)


def _start(opener: Opener, task: Task, rollout: Rollout) -> str:
    """What a rollout's state is rebuilt from: finished work holds for that and nothing else."""
    return f"{start_of(task, rollout)} {opener.name} {opener.saved(task) or 'original'}"
