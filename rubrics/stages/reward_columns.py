"""The rows of the view `reward_inputs` as engine inputs, and the engine's outputs as columns of `rewards`."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from rubrics.records.rankings import CHECKS, FLAGS
from rubrics.records.rubrics import KINDS
from rubrics.rewards.config import ENGINE_VERSION, RewardConfig
from rubrics.rewards.engine import EngineInputs, EngineOutputs
from rubrics.rewards.filtering import DROP_REASONS
from rubrics.rewards.hacks import HACKS
from rubrics.rewards.product import OUTCOMES, STATUSES, UNGRADED, UNKNOWN
from rubrics.rewards.ranking import RANKINGS, Rankings
from rubrics.rewards.routing import ROUTES
from rubrics.store.arrays import codes, floats, run_starts, truths, whole_numbers, words
from rubrics.store.ranking_rows import ranking_arrays

PASSED_THROUGH = (
    "task_id", "group_id", "rollout_id", "source_group", "source_id", "run", "attempt", "policy", "policy_step",
    "studied", "transcript_digest", "solution_rubric", "behavior_rubric", "judge", "rung", "solution", "behavior",
)  # fmt: skip
_LENGTHS = {"turns": "n_turns", "input_tokens": "input_tokens", "output_tokens": "output_tokens"}
_WORDS = {"status": STATUSES, "hack": HACKS, "route": ROUTES, "drop_reason": DROP_REASONS, "ranking": RANKINGS}
_TRUTHS = ("length_floored", "capped", "within_noise")
_WHOLE = ("tier", "rank")


def engine_inputs(table: Any, rankings: Any | None, repeat_spread: Any, config: RewardConfig) -> EngineInputs:
    """`table`: rows of whole tasks, sorted by task and group. `rankings`: rows of that table, null without any."""
    outcome = codes(table, "outcome", OUTCOMES)
    return EngineInputs(
        group_starts=run_starts(table, "task_id", "group_id"),
        task_starts=run_starts(table, "task_id"),
        outcome=np.where(outcome < 0, np.int8(UNKNOWN), outcome),
        hack=codes(table, "hack", HACKS),
        factors=tuple((floats(table, f"{kind}_criteria") != 0, floats(table, kind)) for kind in config.factors),
        lengths=tuple(floats(table, _LENGTHS[measure]) for measure in config.length.measures),
        rankings=Rankings.empty() if rankings is None else Rankings(*ranking_arrays(rankings, table, CHECKS, FLAGS)),
        repeat_spread=repeat_spread,
    )


def reward_columns(table: Any, outputs: EngineOutputs, config: RewardConfig) -> dict[str, Any]:
    """Every column of `rewards`, in the order of the table's rows."""
    columns: dict[str, Any] = {name: table.column(name) for name in PASSED_THROUGH}
    for item in fields(outputs):
        values = getattr(outputs, item.name)
        if item.name in _WORDS:
            columns[item.name] = words(values, _WORDS[item.name])
        elif item.name in _TRUTHS:
            columns[item.name] = truths(values)
        else:
            columns[item.name] = whole_numbers(values) if item.name in _WHOLE else values
    columns["failure_class"] = failure_classes(table, outputs.status, config)
    return {**columns, "config_digest": config.digest(), "engine_version": ENGINE_VERSION}


def failure_classes(table: Any, status: Any, config: RewardConfig) -> list[str | None]:
    """Why a row is not ok: the exit status, `no_task`, `no_outcome`, or what its missing score lacks."""
    names = [
        "detail",
        "exit_status",
        "has_task",
        *(f"{kind}_{what}" for kind in KINDS for what in ("rubric", "criteria", "failure")),
    ]
    classes: list[str | None] = [None] * len(status)
    wrong = np.flatnonzero(status)
    for place, row in zip(wrong, table.select(names).take(wrong).to_pylist(), strict=True):
        classes[place] = _failure_class(row, STATUSES[status[place]], config)
    return classes


def _failure_class(row: dict[str, Any], status: str, config: RewardConfig) -> str | None:
    if status == "truncated":
        return row["exit_status"] or row["detail"] or status
    if status == "infra":
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
