"""Answers "why this reward" for one rollout, from stored tables alone."""

from __future__ import annotations

from typing import Any

from rubrics.report.evidence import patch_summary, places
from rubrics.report.explanation import explanation
from rubrics.report.find import find
from rubrics.report.read import read
from rubrics.store.store import Store


def explain(store: Store, rollout: str) -> dict[str, Any]:
    """Every number behind the reward of one rollout; see `explanation` for the content, and `patch` beside it.

    `rollout` is what `find` takes: a rollout_id, the dump's own id, `task/run`. Raises `UsageError` when it names none
    or several, `StoreError` when the tables do not agree with each other.
    """
    material = read(store, [find(store, rollout)])
    row = material.rollouts[0]
    explained = explanation(material, row)
    patch = patch_summary(row["patch"])
    for score in explained["scores"]:
        for criterion in score["criteria"] if score["kind"] == "solution" else ():
            criterion["places"] = places(criterion["evidence"], patch)
    return {**explained, "patch": patch}
