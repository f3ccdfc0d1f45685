"""Why one rollout has its reward, as plain values, from rows that were read. Pure."""

from __future__ import annotations

from typing import Any

from rubrics.errors import StoreError
from rubrics.outcomes import choose
from rubrics.records.rubrics import KINDS
from rubrics.report.arithmetic import reward_lines
from rubrics.report.evidence import resolved
from rubrics.report.read import Material
from rubrics.report.scores import check_score, is_plain_sum, score_line
from rubrics.report.trust import audit_of

_IDENTITY = (
    "rollout_id", "source_id", "task_id", "run", "policy", "policy_step", "attempt", "group_id", "source_group",
    "harness", "source", "studied", "duplicate_of", "exit_status", "n_turns",
)  # fmt: skip
_REWARD = (
    "status", "failure_class", "test", "solution", "behavior", "reward", "group_size", "group_valid", "group_mean",
    "kept", "drop_reason", "advantage", "route", "judge", "engine_version",
)  # fmt: skip
_STATUS_OF = {"passed": "ok", "failed": "ok"}


def explanation(material: Material, row: dict[str, Any]) -> dict[str, Any]:
    """Identity, outcome with every source, scores with every verdict, audits, environment, reward row, arithmetic.

    Raises `StoreError` when verdicts and reward table do not agree.
    """
    scores = [_score(material, row, kind) for kind in KINDS]
    return {
        **{name: row[name] for name in _IDENTITY},
        "outcome": _outcome(material, row),
        "scores": scores,
        "audit": audit_of(material.audits.get(row["rollout_id"], [])),
        "environment": material.environments.get(row["task_id"]),
        "reward": {name: row[name] for name in _REWARD} if row["rewarded"] else None,
        "arithmetic": [
            *(score["line"] for score in scores),
            *reward_lines(row, material.groups.get(row["group_id"], [])),
        ],
    }


def _outcome(material: Material, row: dict[str, Any]) -> dict[str, Any]:
    said = material.outcomes.get(row["rollout_id"], [])
    choice = choose(said)
    doubt = None
    if row["rewarded"] and row["status"] != "ungraded":
        agreed = _STATUS_OF.get(choice.outcome, choice.outcome) == row["status"]
        known = row["test"] is None or (row["test"] == 1) == (choice.outcome == "passed")
        doubt = None if agreed and known else f"the reward table says status {row['status']}, test {row['test']}"
    return {
        "outcome": choice.outcome,
        "counts": choice.source,
        "why": choice.why,
        "disagreement": choice.disagreement,
        "doubt": doubt,
        "sources": [{"source": item.source, "outcome": item.outcome, "detail": item.detail} for item in said],
    }


def _score(material: Material, row: dict[str, Any], kind: str) -> dict[str, Any]:
    digest = row[f"{kind}_rubric"]
    empty = {
        "kind": kind,
        "rubric": digest,
        "author": None,
        "note": None,
        "score": None,
        "plain": False,
        "criteria": [],
    }
    if digest is None:
        return {**empty, "line": f"{kind} = none: the task has no {kind} rubric"}
    rubric = material.rubrics.get(digest)
    if rubric is None:
        raise StoreError(
            f"rollout {row['rollout_id']}: its reward rests on rubric {digest}, which is no longer current; "
            "run `rubrics reward`"
        )
    found = material.verdicts.get((row["rollout_id"], kind), {})
    about = {**empty, "author": rubric["author"], "note": rubric["note"], "score": row[kind]}
    if not found and rubric["criteria"] and row[kind] is None:
        return {**about, "line": f"{kind} = none: no verdicts; run `rubrics score`"}
    measured = material.measured.get(row["rollout_id"], {})
    criteria = [_criterion(row, item, found, measured) for item in rubric["criteria"]]
    check_score(row, kind, criteria)
    line = score_line(kind, criteria, row[kind])
    return {**about, "plain": is_plain_sum(criteria), "criteria": criteria, "line": line}


def _criterion(
    row: dict[str, Any], criterion: dict[str, Any], found: dict[str, dict[str, Any]], measured: dict[str, Any]
) -> dict[str, Any]:
    verdict = found.get(criterion["id"])
    if verdict is None:
        raise StoreError(
            f"rollout {row['rollout_id']}: no verdict for criterion {criterion['id']}; "
            "run `rubrics score`, then `rubrics reward`"
        )
    return {
        **{name: criterion[name] for name in ("id", "text", "weight", "gate", "method", "fault", "anchor")},
        **{name: verdict[name] for name in ("value", "failure_class", "reason", "repeats")},
        "evidence": [resolved(pointer, measured) for pointer in verdict["evidence"]],
    }
