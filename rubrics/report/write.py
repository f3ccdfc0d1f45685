"""Writes the static report beside the tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rubrics import jsonio
from rubrics.records.rubrics import KINDS
from rubrics.report import summary
from rubrics.report.explanation import explanation
from rubrics.report.pack import Packer
from rubrics.report.page import render
from rubrics.report.read import chunks, read
from rubrics.store.files import write_atomic
from rubrics.store.store import Store
from rubrics.visible import one_line

CHUNK = 1_000
"""Rollouts read at once."""
PATCH_LIMIT = 40_000
"""Longest patch that is shown whole, in characters."""
ALL_PATCHES = 200_000_000
"""Room for all patches together: in a store of very many rollouts each is cut earlier."""


def write_report(store: Store) -> Path:
    """Write `report.html` and return its path. Reads no transcript.

    Raises `StoreError` when verdicts and reward table do not agree.
    """
    limit = min(PATCH_LIMIT, max(1_000, ALL_PATCHES // max(1, store.count("rollouts"))))
    packer = Packer(limit)
    fared = summary.fared(store)
    rubrics = sorted(store.rows("rubrics"), key=lambda row: (row["task_id"], KINDS.index(row["kind"])))
    for rubric in rubrics:
        packer.rubric({**rubric, "criteria": jsonio.loads(rubric["content"])}, fared.get(rubric["rubric_digest"], {}))
    for ids in chunks(store, CHUNK):
        material = read(store, ids)
        for row in material.rollouts:
            packer.rollout(explanation(material, row), row["patch"])
    page = render(_content(store, packer, rubrics), packer.content(), packer.patches())
    write_atomic(store.paths.report, page)
    return store.paths.report


def _content(store: Store, packer: Packer, rubrics: list[dict[str, Any]]) -> dict[str, Any]:
    groups = summary.groups(store)
    return {
        "head": summary.head(store),
        "statuses": summary.statuses(store),
        "census": summary.census(store),
        "chart": summary.all_rewards(groups.values()),
        "groups": [groups[group_id] for group_id in packer.groups()],
        "rubrics": [
            {**{name: one_line(row[name]) for name in ("task_id", "kind", "author")}, "n": row["n_criteria"]}
            for row in rubrics
        ],
    }
