"""The score of one rubric as a sum, checked against the reward table. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rubrics.errors import StoreError
from rubrics.report.numbers import number
from rubrics.rules.score import rubric_score

CLOSE = 1e-9
"""A score computed again may differ from the stored one by this much."""


def is_plain_sum(criteria: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the score is the weighted mean: some criteria, no value unknown, no gate below 1."""
    return bool(criteria) and all(
        item["value"] is not None and not (item["gate"] and item["value"] < 1) for item in criteria
    )


def score_line(kind: str, criteria: Sequence[Mapping[str, Any]], score: float | None) -> str:
    """`score = sum(weight x value) / sum(weight)`, or why there is none."""
    unknown = [item for item in criteria if item["value"] is None]
    gates = [item for item in criteria if not unknown and item["gate"] and item["value"] < 1]
    if unknown:
        listed = ", ".join(f"{item['id']} ({item['failure_class']})" for item in unknown[:5])
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        return f"{kind} = none: {len(unknown)} of {len(criteria)} criteria have no value: {listed}{more}"
    if gates:
        return f"{kind} = 0: gate {gates[0]['id']} has {number(gates[0]['value'])}, a gate below 1 makes the score 0"
    if not criteria or score is None:
        return f"{kind} = none: the rubric has no criteria, so the product leaves it out"
    terms = " + ".join(f"{number(item['weight'])} x {number(item['value'])}" for item in criteria)
    return f"{kind} = ({terms}) / {number(sum(item['weight'] for item in criteria))} = {number(score)}"


def check_score(row: Mapping[str, Any], kind: str, criteria: Sequence[Mapping[str, Any]]) -> None:
    """Raises `StoreError` unless the verdicts give the score that the reward table holds."""
    stored = row[kind]
    found = (
        rubric_score(*zip(*((c["value"], c["weight"], c["gate"]) for c in criteria), strict=True)) if criteria else None
    )
    same = stored is found or (stored is not None and found is not None and abs(stored - found) <= CLOSE)
    if not same:
        raise StoreError(
            f"rollout {row['rollout_id']}: the reward table holds {kind} {stored}, its verdicts give {found}; "
            "the table is older than the verdicts: run `rubrics reward`"
        )
