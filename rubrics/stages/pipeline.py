"""Which stages a command runs, in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from rubrics.stages.audit import Audit
from rubrics.stages.facts import Facts
from rubrics.stages.ingest import Ingest
from rubrics.stages.options import Options
from rubrics.stages.reward import Reward
from rubrics.stages.reward_config import reward_config
from rubrics.stages.score import Score
from rubrics.stages.stage import Stage, Submit, drive
from rubrics.stages.stored_logs import StoredLogs
from rubrics.stages.synthesize import Synthesize
from rubrics.stages.test import Test
from rubrics.stages.token_weights import WeightTokens
from rubrics.store.store import Store


def run_stages(names: tuple[str, ...], values: dict[str, Any], submit: Submit) -> dict[str, int]:
    """Run the named stages in order; returns the rollouts done per stage.

    The store is made when dumps are given, else it must be there.
    """
    options = Options.from_dict(values)
    if "reward" in names:
        reward_config(options)  # refused before hours of work, not after them
    root = Path(options.store)
    store = Store.create(root) if options.dumps else Store.open(root)
    return {stage.name: drive(stage, store, submit, options.workers) for stage in _stages(names, store, options)}


def _stages(names: tuple[str, ...], store: Store, options: Options) -> Iterator[Stage]:
    """Each stage is made when the one before it has ended."""
    for name in names:
        if name == "ingest":
            yield Ingest(options)
        elif name == "facts":
            yield Facts(store, options)
        elif name == "test":
            if options.from_logs:
                yield StoredLogs(store, options)
            else:
                with closing(Test(store, options)) as stage:
                    yield stage
        elif name == "synthesize":
            if options.resynthesize or not store.count("rubrics"):
                yield Synthesize(store, options)
        elif name == "score":
            yield Score(store, options)
        elif name == "audit":
            yield Audit(store, options)
        else:
            yield Reward(store, options)
            yield WeightTokens(store, options)
