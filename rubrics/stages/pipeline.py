"""Which stages a command runs, in order."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rubrics.environments.session import Environment
from rubrics.errors import UsageError
from rubrics.stages.audit import Audit
from rubrics.stages.benches import open_bench
from rubrics.stages.environments import open_environment
from rubrics.stages.facts import Facts
from rubrics.stages.ingest import Ingest
from rubrics.stages.options import Options, judge_kind
from rubrics.stages.rank import Rank
from rubrics.stages.reward import Reward
from rubrics.stages.reward_config import reward_config
from rubrics.stages.score import Score
from rubrics.stages.stage import Stage, Submit, drive
from rubrics.stages.stored_logs import StoredLogs
from rubrics.stages.synthesize import Synthesize
from rubrics.stages.test import Test
from rubrics.stages.token_weights import WeightTokens
from rubrics.store.store import Store

if TYPE_CHECKING:
    from rubrics.models.client import Client

ASKING = frozenset({"synthesize", "score", "audit", "rank"})
"""Stages that ask a model where one is named."""


def run_stages(names: tuple[str, ...], values: dict[str, Any], submit: Submit) -> dict[str, int]:
    """Run the named stages in order, with those that the options add; returns the rollouts done per stage.

    The store is made when dumps are given, else it must be there. What can be refused is refused before the work.
    """
    options = Options.from_dict(values)
    if "reward" in names:
        reward_config(options)
    if "score" in names:
        options = replace(options, judge=judge_kind(options))
    root = Path(options.store)
    store = Store.create(root) if options.dumps else Store.open(root)
    store.settle()  # stages read rubric files when they are made
    with ExitStack() as last, ExitStack() as stack:
        client = _client(names, store, options, stack)
        # Closed after the client: conversations that it ends close what they opened in these environments.
        stages = last.enter_context(closing(_stages(planned(names, options), store, options, client)))
        return {stage.name: drive(stage, store, submit, options.workers, options) for stage in stages}


def planned(names: tuple[str, ...], options: Options) -> tuple[str, ...]:
    """The stages with those that the options ask for: tests before what reads outcomes, rankings before rewards."""
    listed = list(names)
    if options.with_tests and "test" not in names:
        listed.insert(next(i for i, name in enumerate(names) if name in ("synthesize", "score")), "test")
    if options.model and {"score", "reward"} <= set(names):
        listed.insert(listed.index("reward"), "rank")
    return tuple(listed)


def _client(names: tuple[str, ...], store: Store, options: Options, stack: ExitStack) -> Client | None:
    if options.model is None or not ASKING & set(names):
        return None
    from rubrics.stages.models import open_model

    return stack.enter_context(open_model(options, store))


def _stages(
    names: tuple[str, ...], store: Store, options: Options, client: Client | None
) -> Generator[Stage, None, None]:
    """Each stage is made when the one before it has ended, and what it opened is closed when it has."""
    for name in names:
        with ExitStack() as stack:
            if name == "ingest":
                yield Ingest(store, options)
            elif name == "facts":
                yield Facts(store, options)
            elif name == "test" and options.from_logs:
                yield StoredLogs(store, options)
            elif name == "test":
                tests = stack.enter_context(closing(Test(store, options)))
                if tests.chunks() or not options.with_tests:
                    yield tests
            elif name == "synthesize":
                written = frozenset() if options.resynthesize else _with_rubrics(store)
                if not written or options.author == "model":
                    stage = _synthesize(store, options, client, stack, written)
                    if any(stage.chunks()):
                        yield stage
            elif name == "score":
                bench = stack.enter_context(open_bench(options, store, client))
                yield Score(store, options, bench, partial(_opened, store, options, stack))
            elif name == "audit":
                yield Audit(store, options, client)
            elif name == "rank":
                yield Rank(
                    store, options, client, _opened(store, options, stack) if options.rank_mode == "agent" else None
                )
            else:
                yield Reward(store, options)
                yield WeightTokens(store, options)


def stage_apart(name: str, store: Store, options: Options) -> Stage:
    """A stage of those whose chunks other processes may do, opened in one of them."""
    made: dict[str, Callable[[Store, Options], Stage]] = {
        "facts": Facts, "synthesize": Synthesize, "score": Score, "audit": Audit
    }  # fmt: skip
    if name not in made:
        raise UsageError(f"stage {name!r} is done in one process")
    return made[name](store, options)


def _opened(store: Store, options: Options, stack: ExitStack) -> Environment:
    return stack.enter_context(open_environment(options, store))


def _with_rubrics(store: Store) -> frozenset[str]:
    """The tasks that have rubrics. A model is asked for the others, also where its answer failed before."""
    return frozenset(row["task_id"] for row in store.rows("rubrics", ["task_id", "kind"]))


def _synthesize(
    store: Store, options: Options, client: Client | None, stack: ExitStack, written: frozenset[str]
) -> Stage:
    if options.author == "builtin" or client is None:
        return Synthesize(store, options)
    opener = stack.enter_context(open_environment(options, store))
    bench = stack.enter_context(open_bench(options, store, client))
    return Synthesize(store, options, client, opener, bench.judge if bench else None, written)
