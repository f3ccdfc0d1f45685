"""Reward: from outcomes and grades to the reward table. Arithmetic over stored tables, nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from rubrics.records.census import CensusLine
from rubrics.records.rubrics import KINDS
from rubrics.rewards.config import ENGINE_VERSION, RewardConfig
from rubrics.rewards.groups import DROP_REASONS, centred, group_statistics
from rubrics.rewards.product import OUTCOMES, STATUSES, UNGRADED, product
from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk, census_rows
from rubrics.store.reward_rows import reward_table
from rubrics.store.store import StageRun, Store

_PASSED_THROUGH = (
    "task_id", "group_id", "rollout_id", "run", "attempt", "policy", "policy_step", "studied", "transcript_digest",
    "solution_rubric", "behavior_rubric", "judge", "rung", "solution", "behavior",
)  # fmt: skip
_SWITCH = {
    "no_transcript": "no transcript: `--factors solution` would score it by its patch",
    "no_patch": "no patch: `--factors behavior` would score it by its transcript",
}


class Reward:
    """Makes `rewards` anew from `outcomes`, `grades` and `rubrics`."""

    name = "reward"

    def __init__(self, store: Store, options: Options) -> None:
        self._store = store
        self._options = options
        self._config = RewardConfig(factors=options.factors)
        self._census: list[CensusLine] = []

    def chunks(self) -> Iterable[Chunk]:
        return [Chunk("groups", (), self._store.count("rollouts"))]

    def work(self, run: StageRun, chunk: Chunk) -> int:
        where = "duplicate_of IS NULL" if self._options.drop_duplicates else "true"
        inputs = self._store.query(f"SELECT * FROM reward_inputs WHERE {where} ORDER BY task_id, group_id, rollout_id")
        columns = reward_columns(inputs, self._config)
        run.append_table("rewards", reward_table(columns, inputs.num_rows))
        self._count(columns, chunk.rollouts - inputs.num_rows)
        return chunk.rollouts

    def _count(self, columns: dict[str, Any], dropped: int) -> None:
        if dropped:
            self._note("duplicate_dropped", "left out by --drop-duplicates", dropped)
        rows = zip(columns["status"], columns["failure_class"], strict=True)
        ungraded = Counter(failure for status, failure in rows if status == STATUSES[UNGRADED])
        for failure, count in sorted(ungraded.items()):
            self._note(f"ungraded_{failure}", _SWITCH.get(failure, "a pass without a score: masked"), count)
        groups = dict(zip(columns["group_id"].to_pylist(), columns["drop_reason"], strict=True))
        for reason, count in sorted(Counter(reason for reason in groups.values() if reason).items()):
            self._note(f"group_{reason}", "groups dropped: they carry no signal", count, subject="run")

    def _note(self, kind: str, detail: str, count: int, subject: Any = "rollout") -> None:
        self._census.append(CensusLine(self.name, subject, kind, "", detail, count))

    def finish(self, run: StageRun) -> None:
        run.append("rewards", ())
        run.append("census", census_rows(self._census))


def reward_columns(inputs: Any, config: RewardConfig) -> dict[str, Any]:
    """Every column of `rewards` for the rows of the view `reward_inputs`, in their order."""
    outcome = _codes(inputs.column("outcome").to_pylist(), OUTCOMES)
    no_hack = np.zeros(inputs.num_rows, dtype=np.bool_)
    factors = tuple(_factor(inputs, kind) for kind in config.factors)
    result = product(outcome, no_hack, factors)
    groups = inputs.column("group_id").combine_chunks().dictionary_encode()
    group = groups.indices.to_numpy().astype(np.int64)
    statistics = group_statistics(group, len(groups.dictionary), result.reward, result.valid)
    kept = statistics.drop[group] == 0
    base = centred(result.reward, result.valid, group, statistics.mean)
    status = np.array(STATUSES, dtype=object)[result.status]
    reasons = np.array([None, *DROP_REASONS[1:]], dtype=object)
    return {
        **{name: inputs.column(name) for name in _PASSED_THROUGH},
        "status": status,
        "failure_class": _failure_classes(inputs, status, config),
        "test": result.test,
        "route": "grs",
        "reward_raw": result.reward,
        "reward": result.reward,
        "group_size": statistics.size[group],
        "group_valid": statistics.valid[group],
        "group_mean": statistics.mean[group],
        "kept": kept,
        "drop_reason": reasons[statistics.drop[group]],
        "advantage_base": base,
        "advantage": np.where(kept, base, np.nan),
        "reward_star": np.where(kept & result.valid, result.reward, np.nan),
        "config_digest": config.digest(),
        "engine_version": ENGINE_VERSION,
    }


def _codes(values: list[str], names: tuple[str, ...]) -> Any:
    known = {name: code for code, name in enumerate(names)}
    return np.fromiter((known[value] for value in values), dtype=np.int8, count=len(values))


def _factor(inputs: Any, kind: str) -> tuple[Any, Any]:
    """Where a factor applies (everywhere but in tasks whose rubric has no criteria), and its scores."""
    criteria = inputs.column(f"{kind}_criteria").to_numpy(zero_copy_only=False).astype(np.float64)
    scores = inputs.column(kind).to_numpy(zero_copy_only=False).astype(np.float64)
    return criteria != 0, scores


def _failure_classes(inputs: Any, status: Any, config: RewardConfig) -> list[str | None]:
    """Why a row is not ok: the exit status, `no_task`, `no_outcome`, or what its missing score lacks."""
    names = ["detail", "has_task", *(f"{kind}_{what}" for kind in KINDS for what in ("rubric", "criteria", "failure"))]
    rows = inputs.select(names).to_pylist()
    return [_failure_class(row, name, config) for row, name in zip(rows, status, strict=True)]


def _failure_class(row: dict[str, Any], status: str, config: RewardConfig) -> str | None:
    if status in ("infra", "truncated"):
        return row["detail"] or status
    if status == "unknown":
        return "no_outcome" if row["has_task"] else "no_task"
    if status != STATUSES[UNGRADED]:
        return None
    for kind in config.factors:
        if row[f"{kind}_rubric"] is None:
            return "no_rubric"
        if row[f"{kind}_criteria"] and row[f"{kind}_failure"]:
            return str(row[f"{kind}_failure"])
    return "no_grades"
