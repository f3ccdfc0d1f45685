"""Random stores: every table that the reward stage reads, with nulls, ragged groups, repeats, audits and rounds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rubrics.records.rankings import CHECKS, FLAGS
from rubrics.rewards.config import TOKEN_FLAGS
from rubrics.store.store import Store

Rows = list[dict[str, Any]]
STEPS = (None, 1, 2)


def random_store(root: Path, seed: int, tasks: int = 6) -> Store:
    """A store whose numbers are random and whose shape is ragged."""
    rng = np.random.default_rng(seed)
    tables: dict[str, Rows] = {name: [] for name in (
        "tasks", "rollouts", "transcripts", "outcomes", "rubrics", "grades", "audits", "rankings",
    )}  # fmt: skip
    for number in range(tasks):
        _task(rng, f"task-{number}", tables)
    store = Store.create(root)
    with store.writing() as run:
        for name, rows in tables.items():
            run.append(name, rows)
    return store


def _maybe(rng: np.random.Generator, value: Any, share: float = 0.08) -> Any:
    return None if rng.random() < share else value


def _task(rng: np.random.Generator, task_id: str, tables: dict[str, Rows]) -> None:
    if rng.random() < 0.9:
        tables["tasks"].append({"task_id": task_id})
    passing = rng.choice([0.0, 0.4, 0.6, 0.9, 1.0])
    kinds = {kind: rng.choice([0, 2, 3], p=[0.15, 0.4, 0.45]) for kind in ("solution", "behavior")}
    for kind, criteria in kinds.items():
        tables["rubrics"].append({
            "rubric_digest": f"{task_id}-{kind}", "task_id": task_id, "kind": kind, "n_criteria": int(criteria),
        })  # fmt: skip
    profile = {"audited": rng.random() < 0.7, "ranked": rng.random() < 0.8, "repeats": int(rng.choice([1, 3])),
               "gap": rng.choice([0.0, 0.1]), "uncounted": rng.choice([0.0, 0.3])}  # fmt: skip
    for group in range(rng.integers(1, 4)):
        group_id = f"g{group}" if rng.random() < 0.5 else f"{task_id}#{group}"
        ids = [f"{task_id}-{group}-{place}" for place in range(rng.integers(1, 11))]
        for rollout_id in ids:
            _rollout(rng, task_id, group_id, rollout_id, passing, profile, tables)
            tables["grades"] += _grades(rng, task_id, rollout_id, kinds, profile)
        if profile["ranked"]:
            tables["rankings"] += _rounds(rng, task_id, group_id, ids)


def _rollout(
    rng: np.random.Generator, task_id: str, group_id: str, rollout_id: str, passing: float, profile: dict[str, Any],
    tables: dict[str, Rows],
) -> None:  # fmt: skip
    digest = None if rng.random() < profile["gap"] else f"t-{rollout_id}"
    tables["rollouts"].append({
        "rollout_id": rollout_id, "transcript_digest": digest, "task_id": task_id, "group_id": group_id, "run": "r",
        "policy": str(rng.choice(["a", "b"])), "policy_step": STEPS[rng.integers(3)], "attempt": 0,
        "n_turns": _maybe(rng, int(rng.integers(0, 40)), profile["gap"]),
        "input_tokens": _maybe(rng, int(rng.integers(0, 9000)), 0.02),
        "output_tokens": _maybe(rng, int(rng.integers(1, 900)), profile["uncounted"]),
        "duplicate_of": _maybe(rng, "another", 0.9),
    })  # fmt: skip
    if digest is not None:
        turns = json.dumps(list(_turns(rng, profile["uncounted"])), separators=(",", ":"))
        tables["transcripts"].append({"transcript_digest": digest, "task_id": task_id, "turns": turns})
    outcome = "passed" if rng.random() < passing else str(rng.choice(["failed", "failed", "truncated"]))
    outcome = str(rng.choice(["infra", "unknown"])) if rng.random() < 0.08 else outcome
    tables["outcomes"].append({
        "rollout_id": rollout_id, "task_id": task_id, "source": "run:1", "outcome": outcome, "detail": None,
    })  # fmt: skip
    if profile["audited"] and rng.random() < 0.9:
        verdict = str(rng.choice(["none", "suspected", "confirmed"], p=[0.7, 0.1, 0.2]))
        tables["audits"].append({
            "rollout_id": rollout_id, "task_id": task_id, "source": "rule", "kind": "history", "verdict": verdict,
            "evidence": _maybe(rng, "transcript:3"),
        })  # fmt: skip


def _turns(rng: np.random.Generator, uncounted: float) -> Iterator[dict[str, Any]]:
    yield {"role": "user", "text": "do"}
    for _ in range(rng.integers(1, 6)):
        turn: dict[str, Any] = {"role": "assistant", "text": 'says "flags":'}
        if rng.random() >= uncounted / 5:
            turn["output_tokens"] = int(rng.integers(0, 60))
        flags = [name for name in (*TOKEN_FLAGS, "truncated_observation", "demonstration") if rng.random() < 0.08]
        yield {**turn, "flags": flags} if flags else turn


def _grades(
    rng: np.random.Generator, task_id: str, rollout_id: str, kinds: dict[str, Any], profile: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    for kind, criteria in kinds.items():
        for criterion in range(int(criteria)):
            for repeat in range(profile["repeats"]):
                value = _maybe(rng, float(rng.choice([0.0, 0.25, 0.5, 1.0, rng.random()])), profile["gap"] / 3)
                yield {
                    "rollout_id": rollout_id, "task_id": task_id, "kind": kind, "rubric_digest": f"{task_id}-{kind}",
                    "criterion_id": f"c{criterion}", "weight": float(1 + criterion), "gate": False, "judge": "builtin",
                    "repeat": repeat, "value": value, "failure_class": "no_fact" if value is None else None,
                }  # fmt: skip


def _rounds(rng: np.random.Generator, task_id: str, group_id: str, ids: list[str]) -> Iterator[dict[str, Any]]:
    missing = rng.choice([0.0, 0.0, 0.3])
    lowest = rng.choice([1, 3])
    for number in range(rng.integers(1, 6)):
        broken = rng.random() < 0.15
        for rollout_id in ids:
            if rng.random() >= missing:
                levels = {check: _maybe(rng, int(rng.integers(lowest, 6)), 0.01) for check in CHECKS}
                flags = {flag: _maybe(rng, bool(rng.random() < 0.1), 0.1) for flag in FLAGS}
                place = {"task_id": task_id, "group_id": group_id, "rollout_id": rollout_id, "round": number}
                yield {**place, **levels, **flags, "usable": _maybe(rng, not broken, 0.005)}
