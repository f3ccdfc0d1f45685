"""Reward: from outcomes, grades, audits and rankings to the reward table. Arithmetic over stored tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rubrics.errors import UsageError
from rubrics.records.census import CensusLine, Subject
from rubrics.rewards.config import ENGINE_VERSION
from rubrics.rewards.engine import EngineOutputs, compute
from rubrics.stages.options import Options
from rubrics.stages.reward_census import DETAILS, chunk_counts
from rubrics.stages.reward_columns import engine_inputs, reward_columns
from rubrics.stages.reward_config import reward_config
from rubrics.stages.stage import Chunk
from rubrics.store.arrays import placed
from rubrics.store.chunks import Done, Output
from rubrics.store.commit import StageRun
from rubrics.store.reward_rows import reward_table
from rubrics.store.scored import last_judge
from rubrics.store.store import Store
from rubrics.store.streams import stream, whole

CHUNK_ROWS = 100_000
"""Rollouts per chunk; a chunk holds whole tasks, so that routes can be told."""
_INPUTS = """
SELECT * EXCLUDE (for_judge) FROM reward_inputs
WHERE {} AND for_judge IS NOT DISTINCT FROM $judge ORDER BY task_id, group_id, rollout_id
"""
_JUDGES = "SELECT DISTINCT judge FROM grades WHERE rubric_digest IN (SELECT rubric_digest FROM rubrics) ORDER BY judge"
_RANKINGS = "SELECT * FROM rankings WHERE task_id IN (SELECT unnest($tasks))"
_SPREADS = """
SELECT rollout_id, max(score) - min(score) AS spread
FROM (
  SELECT rollout_id, repeat, CASE WHEN bool_or(score IS NULL) THEN NULL ELSE product(score) END AS score
  FROM score_repeats
  WHERE task_id IN (SELECT unnest($tasks)) AND kind IN (SELECT unnest($kinds))
    AND rubric_digest IN (SELECT rubric_digest FROM rubrics) AND judge = $judge
  GROUP BY rollout_id, repeat
)
GROUP BY rollout_id
HAVING count(score) > 1
"""


class Reward:
    """Makes `rewards` anew from `outcomes`, `grades`, `rubrics`, `audits` and `rankings`."""

    name = "reward"

    def __init__(self, store: Store, options: Options) -> None:
        self._store = store
        self._options = options
        self._config = reward_config(options)
        self._judge = chosen_judge(store, options)
        self._ranked = store.count("rankings") > 0
        self._repeated = _number(store, "SELECT count(*) AS n FROM grades WHERE repeat > 0") > 0

    def chunks(self) -> Iterable[Chunk]:
        inputs = _INPUTS.format("duplicate_of IS NULL" if self._options.drop_duplicates else "true")
        rows = stream(self._store, inputs, CHUNK_ROWS, {"judge": self._judge})
        tables = whole(rows, "task_id", CHUNK_ROWS)
        for number, table in enumerate(tables):
            yield Chunk(f"groups {number}", (table,), table.num_rows)

    def work(self, out: Output, chunk: Chunk) -> int:
        table = chunk.items[0]
        outputs = self._compute(table)
        columns = reward_columns(table, outputs, self._config)
        out.append_table("rewards", reward_table(columns, table.num_rows))
        for (subject, kind), count in sorted(chunk_counts(table, outputs, columns["failure_class"]).items()):
            if count:
                out.note(_counted(subject, kind, count))
        return chunk.rollouts

    def _compute(self, table: Any) -> EngineOutputs:
        tasks = {"tasks": table.column("task_id").unique().to_pylist()}
        rankings = self._store.query(_RANKINGS, tasks) if self._ranked else None
        spread = np.full(table.num_rows, np.nan)
        if self._repeated:
            spreads = self._store.query(_SPREADS, {**tasks, "kinds": list(self._config.factors), "judge": self._judge})
            spread = placed(spreads, "spread", "rollout_id", table)
        return compute(engine_inputs(table, rankings, spread, self._config), self._config)

    def finish(self, run: StageRun, done: Sequence[Done]) -> None:
        if self._options.drop_duplicates:
            dropped = _number(self._store, "SELECT count(*) AS n FROM rollouts WHERE duplicate_of IS NOT NULL")
            if dropped:
                run.note(_counted("rollout", "duplicate_dropped", dropped))
        run.append("rewards", ())
        config = self._config
        row = {"config_digest": config.digest(), "engine_version": ENGINE_VERSION, "content": config.content()}
        run.append("reward_configs", [row])


def _counted(subject: Subject, kind: str, count: int) -> CensusLine:
    return CensusLine(Reward.name, subject, kind, "", DETAILS.get(kind, "a pass without a score: masked"), count)


def chosen_judge(store: Store, options: Options) -> str | None:
    """The judge whose grades are multiplied: the one asked for, else the one that `score` last ran with; null when
    nobody graded.

    `--judge` names a judge as `grades` does, or its kind when the store holds one of that kind. Raises `UsageError`
    when that leaves none or several.
    """
    found = [row["judge"] for row in store.query(_JUDGES).to_pylist()]
    wanted = found if options.judge is None else [name for name in found if options.judge in (name, name.split(":")[0])]
    if options.model and len(wanted) > 1:
        wanted = [name for name in wanted if name.endswith(f":{options.model}")]
    if len(wanted) > 1:
        last = last_judge(store)
        wanted = [name for name in wanted if name == last]
    if len(wanted) == 1 or not found:
        return wanted[0] if wanted else None
    asked = "" if options.judge is None else f" {options.judge!r} is not one of them;"
    raise UsageError(f"the store holds grades of {', '.join(found)};{asked} choose one with --judge")


def _number(store: Store, sql: str) -> int:
    return int(store.query(sql).to_pylist()[0]["n"])
