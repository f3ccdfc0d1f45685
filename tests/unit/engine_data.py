"""Random chunks of whole groups, and single groups, for the tests of the reward engine."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from rubrics.records.rankings import CHECKS, FLAGS
from rubrics.rewards.config import RewardConfig
from rubrics.rewards.engine import EngineInputs, EngineOutputs, compute
from rubrics.rewards.hacks import HACKS
from rubrics.rewards.product import OUTCOMES
from rubrics.rewards.ranking import Rankings

NULL = float("nan")
DEFAULTS = RewardConfig()
NO_LENGTH = replace(DEFAULTS, length=replace(DEFAULTS.length, penalty=0.0))
seeds = st.integers(0, 2**32 - 1)


def examples(number: int) -> settings:
    """So many examples, however slow the machine is."""
    return settings(max_examples=number, deadline=None)


def one_group(
    outcomes: list[str],
    *,
    hacks: list[str | None] | None = None,
    scores: list[tuple[float, float]] | None = None,
    turns: list[float] | None = None,
    checks: dict[int, list[Any]] | None = None,
) -> EngineInputs:
    """One group of one task. `checks` maps rows to rounds: (five checks, names of flags) or null for unusable."""
    n = len(outcomes)
    pairs = np.array(scores if scores is not None else [(NULL, NULL)] * n, dtype=float).reshape(n, 2)
    everywhere = np.ones(n, dtype=bool)
    unknown = np.full(n, NULL)
    return EngineInputs(
        group_starts=np.array([0]),
        task_starts=np.array([0]),
        outcome=np.array([OUTCOMES.index(name) for name in outcomes], dtype=np.int8),
        hack=np.array([-1 if name is None else HACKS.index(name) for name in hacks or [None] * n], dtype=np.int8),
        factors=((everywhere, pairs[:, 0]), (everywhere, pairs[:, 1])),
        lengths=(unknown if turns is None else np.array(turns, dtype=float), unknown, unknown),
        rankings=_rankings(checks or {}),
        repeat_spread=unknown,
    )


def _rankings(checks: dict[int, list[Any]]) -> Rankings:
    entries = [
        (row, number, entry or ((0,) * 5, ()), entry is not None)
        for row, rounds in checks.items()
        for number, entry in enumerate(rounds)
    ]
    if not entries:
        return Rankings.empty()
    return Rankings(
        row=np.array([row for row, *_ in entries]),
        round=np.array([number for _, number, *_ in entries]),
        checks=np.array([entry[0] for *_, entry, _ in entries], dtype=np.int8),
        flags=np.array([[flag in entry[1] for flag in FLAGS] for *_, entry, _ in entries], dtype=bool),
        usable=np.array([usable for *_, usable in entries]),
    )


def random_chunk(seed: int, tasks: int = 5, groups: int = 3, largest: int = 8) -> EngineInputs:
    """Ragged groups: singletons, all masked, all passing, none passing, with and without rankings."""
    rng = np.random.default_rng(seed)
    sizes, tasks_of = [], []
    for task in range(rng.integers(1, tasks + 1)):
        for _ in range(rng.integers(1, groups + 1)):
            sizes.append(rng.integers(1, largest + 1))
            tasks_of.append(task)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
    rows, task = int(np.sum(sizes)), np.repeat(tasks_of, sizes)
    share = rng.choice([0.0, 0.3, 0.5, 0.7, 0.95, 1.0], size=max(tasks_of) + 1)[task]
    outcome = np.where(rng.random(rows) < share, 0, rng.choice([1, 3], size=rows, p=[0.7, 0.3]))
    outcome = np.where(rng.random(rows) < rng.choice([0.0, 0.1, 0.6]), rng.choice([2, 4], size=rows), outcome)
    audited = rng.random() < 0.7
    hack = rng.choice([0, 1, 2], size=rows, p=[0.75, 0.1, 0.15]) if audited else np.full(rows, -1)
    return EngineInputs(
        group_starts=starts,
        task_starts=starts[np.flatnonzero(np.diff(tasks_of, prepend=-1))],
        outcome=outcome.astype(np.int8),
        hack=hack.astype(np.int8),
        factors=tuple((rng.random(max(tasks_of) + 1)[task] < 0.9, _scores(rng, rows)) for _ in range(2)),
        lengths=tuple(_lengths(rng, rows) for _ in range(3)),
        rankings=_random_rankings(rng, starts, sizes),
        repeat_spread=np.where(rng.random(rows) < 0.5, NULL, rng.random(rows)),
    )


def _scores(rng: np.random.Generator, rows: int) -> np.ndarray[Any, Any]:
    scores = rng.choice([0.0, 0.25, 0.5, 0.72, 1.0], size=rows) if rng.random() < 0.5 else rng.random(rows)
    return np.where(rng.random(rows) < rng.choice([0.0, 0.1]), NULL, scores)


def _lengths(rng: np.random.Generator, rows: int) -> np.ndarray[Any, Any]:
    lengths = rng.integers(0, 60, size=rows) * float(rng.choice([1, 1000]))
    return np.where(rng.random(rows) < rng.choice([0.0, 0.05, 1.0]), NULL, lengths)


def _random_rankings(rng: np.random.Generator, starts: Any, sizes: Any) -> Rankings:
    row, number = [], []
    for start, size in zip(starts, sizes, strict=True):
        if rng.random() < 0.8:
            for turn in range(rng.integers(1, 5)):
                here = start + np.flatnonzero(rng.random(size) < rng.choice([0.8, 1.0], p=[0.2, 0.8]))
                row.append(here)
                number.append(np.full(len(here), turn))
    if not row:
        return Rankings.empty()
    entries = len(np.concatenate(row))
    level = rng.integers(rng.choice([1, 3]), 6, size=(entries, len(CHECKS)))
    return Rankings(
        np.concatenate(row),
        np.concatenate(number),
        np.where(rng.random(level.shape) < rng.choice([0.0, 0.02]), 0, level).astype(np.int8),
        rng.random((entries, len(FLAGS))) < rng.choice([0.0, 0.2]),
        rng.random(entries) < rng.choice([0.9, 1.0]),
    )


def reordered(inputs: EngineInputs, order: Any, starts: Any, tasks: Any) -> EngineInputs:
    """The same rows in another order; `order[i]` is the old place of row i."""
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return EngineInputs(
        group_starts=starts,
        task_starts=tasks,
        outcome=inputs.outcome[order],
        hack=inputs.hack[order],
        factors=tuple((applies[order], score[order]) for applies, score in inputs.factors),
        lengths=tuple(length[order] for length in inputs.lengths),
        rankings=replace(inputs.rankings, row=place[inputs.rankings.row]),
        repeat_spread=inputs.repeat_spread[order],
    )


def assert_same(one: EngineOutputs, other: EngineOutputs, tolerance: float = 1e-12) -> None:
    for item in fields(EngineOutputs):
        np.testing.assert_allclose(
            getattr(one, item.name), getattr(other, item.name), rtol=0, atol=tolerance, err_msg=item.name
        )


def group_slices(inputs: EngineInputs) -> list[slice]:
    ends = [*inputs.group_starts[1:], len(inputs.outcome)]
    return [slice(start, end) for start, end in zip(inputs.group_starts, ends, strict=True)]


def run(inputs: EngineInputs, config: RewardConfig = DEFAULTS) -> EngineOutputs:
    return compute(inputs, config)
