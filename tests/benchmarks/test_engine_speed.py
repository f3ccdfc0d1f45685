"""How fast the reward engine is: 10 million rollouts, all rules on, against other ways of doing the same.

Ratios of one run; nothing is asserted about seconds but the aims of the design, and those only as printed lines.
`ENGINE_ROWS` makes it smaller.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from rubrics.rewards.centring import centre
from rubrics.rewards.config import RewardConfig
from rubrics.rewards.engine import EngineInputs, compute
from rubrics.rewards.ranking import Rankings
from rubrics.rewards.segments import Segments

pytestmark = pytest.mark.benchmark

ROWS = int(os.environ.get("ENGINE_ROWS", 10_000_000))
CHUNK = 30_000
"""Rows per chunk: arrays of 240 KB are reused by the allocator, larger ones are mapped anew each time."""
LOOP_ROWS = min(200_000, ROWS)
CONFIG = RewardConfig()


def cpu(action: Callable[[], Any]) -> tuple[float, Any]:
    before = time.process_time()
    result = action()
    return time.process_time() - before, result


def resident(field: str) -> float:
    """`VmRSS` (now) or `VmHWM` (highest since `forget_peak`) of this process, in GiB."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) / (1 << 20)


def forget_peak() -> float:
    """Begin to watch the peak anew; returns what is held now."""
    Path("/proc/self/clear_refs").write_text("5")
    return resident("VmRSS")


class Data:
    """All rollouts as compact arrays: what a chunk does not widen stays narrow."""

    def __init__(self, ragged: bool) -> None:
        rng = np.random.default_rng(7)
        sizes = rng.integers(1, 32, size=2 * ROWS // 32 + 1) if ragged else np.full(ROWS // 16, 16)
        self.starts = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
        self.rows = int(sizes.sum())
        share = np.repeat(rng.random(len(sizes), dtype=np.float32), sizes)
        self.outcome = np.where(rng.random(self.rows, dtype=np.float32) < share, 0, 1).astype(np.int8)
        self.outcome[rng.random(self.rows, dtype=np.float32) < 0.02] = 2
        self.hack = np.where(rng.random(self.rows, dtype=np.float32) < 0.03, 2, 0).astype(np.int8)
        self.scores = [rng.random(self.rows, dtype=np.float32) for _ in range(2)]
        self.lengths = [rng.integers(1, 2000, size=self.rows, dtype=np.int32) for _ in range(3)]
        self.reward = (self.outcome == 0).astype(np.float64)
        self.checks = rng.integers(2, 6, size=(self.rows, 5), dtype=np.int8)
        self.flags = rng.random((self.rows, 4), dtype=np.float32) < 0.05

    def chunks(self) -> Iterator[tuple[slice, EngineInputs]]:
        """About `CHUNK` rows each, cut at groups; every group is its own task. One round of ranking per rollout."""
        cuts = np.searchsorted(self.starts, np.arange(0, self.rows, CHUNK))
        bounds = np.unique(np.append(self.starts[np.minimum(cuts, len(self.starts) - 1)], self.rows))
        for start, end in pairwise(bounds):
            rows, n = slice(start, end), end - start
            first, last = np.searchsorted(self.starts, (start, end))
            starts, everywhere = self.starts[first:last] - start, np.ones(n, dtype=np.bool_)
            yield rows, EngineInputs(
                starts, starts, self.outcome[rows], self.hack[rows],
                tuple((everywhere, score[rows].astype(np.float64)) for score in self.scores),
                tuple(length[rows].astype(np.float64) for length in self.lengths),
                Rankings(np.arange(n), np.zeros(n, dtype=np.int64), self.checks[rows], self.flags[rows], everywhere),
                np.full(n, np.nan),
            )  # fmt: skip


def engine(data: Data, config: RewardConfig) -> dict[str, int]:
    """All rules, chunk by chunk; what is done is handed on (here: counted) and let go."""
    seen: dict[str, int] = defaultdict(int)
    for _, inputs in data.chunks():
        found = compute(inputs, config)
        seen["rows"] += len(found.reward)
        seen["capped"] += int((found.capped == 1).sum())
        seen["used"] += int((found.ranking == 1).sum())
        seen["shortened"] += int((found.length_penalty > 0).sum())
        seen["kept"] += int(found.kept.sum())
    return dict(seen)


def engine_advantage(data: Data) -> np.ndarray[Any, Any]:
    reward, result = data.reward, np.empty(data.rows)
    cuts = np.searchsorted(data.starts, np.arange(0, data.rows, CHUNK))
    bounds = np.unique(np.append(data.starts[np.minimum(cuts, len(data.starts) - 1)], data.rows))
    valid = np.ones(2 * CHUNK, dtype=np.bool_)
    for start, end in pairwise(bounds):
        first, last = np.searchsorted(data.starts, (start, end))
        groups = Segments.of(data.starts[first:last] - start, end - start)
        result[start:end] = centre(groups, reward[start:end], valid[: end - start], "dr_grpo", 0).advantage
    return result


def loop_advantage(reward: np.ndarray[Any, Any], names: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The shape of verl's outcome advantage, without torch: lists by group id, mean and standard deviation of each
    (the deviation is computed also where it is not used), one scalar at a time."""
    scores = reward.copy()
    lists: dict[str, list[Any]] = defaultdict(list)
    means, deviations = {}, {}
    for i in range(len(scores)):
        lists[names[i]].append(scores[i])
    for name, values in lists.items():
        stacked = np.stack(values)
        means[name], deviations[name] = np.mean(stacked), np.std(stacked)
    for i in range(len(scores)):
        scores[i] = scores[i] - means[names[i]]
    return scores


def line(name: str, seconds: float, rows: int, base: float) -> None:
    print(f"  {name:<52} {seconds:8.2f} s {1e9 * seconds / rows:10.1f} ns/row {1e9 * seconds / rows / base:9.2f}x")


@pytest.mark.parametrize("ragged", [False, True])
def test_all_rules_and_plain_advantages(ragged: bool) -> None:
    data = Data(ragged)
    held = forget_peak()
    whole, seen = cpu(lambda: engine(data, CONFIG))
    above = resident("VmHWM") - held
    assert seen["rows"] == data.rows
    assert min(seen["capped"], seen["used"], seen["shortened"]) > data.rows / 50
    without, _ = cpu(lambda: engine(data, replace(CONFIG, length=replace(CONFIG.length, penalty=0.0))))
    plain, ours = cpu(lambda: engine_advantage(data))
    base = 1e9 * plain / data.rows
    print(f"\n{data.rows:,} rollouts in {len(data.starts):,} groups, {'ragged' if ragged else 'of 16'}; CPU time")
    print(f"  whole engine: {seen}; peak {above:.2f} GiB above its input (process: {held:.2f} GiB)")
    line("engine, all rules", whole, data.rows, base)
    line("engine, all rules but the length penalty", without, data.rows, base)
    line("engine, plain advantages", plain, data.rows, base)
    group = np.repeat(np.arange(len(data.starts)), np.diff(data.starts, append=data.rows))
    loops(data, group, ours, base)
    frames(data, group, ours, base)


def loops(data: Data, group: Any, ours: Any, base: float) -> None:
    names = np.array([f"task-{number}" for number in group[:LOOP_ROWS]], dtype=object)
    reward = data.reward[:LOOP_ROWS]
    seconds, found = cpu(lambda: loop_advantage(reward, names))
    whole = group[:LOOP_ROWS] < group[LOOP_ROWS - 1]
    np.testing.assert_allclose(found[whole], ours[:LOOP_ROWS][whole], rtol=0, atol=1e-12)
    line(f"loop in verl's shape, {LOOP_ROWS:,} rows", seconds, LOOP_ROWS, base)


def frames(data: Data, group: Any, ours: Any, base: float) -> None:
    frame = pd.DataFrame({"g": group, "r": data.reward})
    seconds, found = cpu(lambda: frame["r"] - frame.groupby("g", sort=False)["r"].transform("mean"))
    np.testing.assert_allclose(found.to_numpy(), ours, rtol=0, atol=1e-12)
    line("pandas groupby, plain advantages", seconds, data.rows, base)
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.execute("CREATE TABLE t AS SELECT row_number() OVER () AS i, g, r FROM frame")
        query = "SELECT r - avg(r) OVER (PARTITION BY g) AS a FROM t ORDER BY i"
        seconds, result = cpu(lambda: connection.execute(query).fetchnumpy()["a"])
        np.testing.assert_allclose(result, ours, rtol=0, atol=1e-9)
        line("DuckDB window, plain advantages, in row order", seconds, data.rows, base)
