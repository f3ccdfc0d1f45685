"""Stores whose rubrics ask a judge: the sample's, with criteria added to the rubric files as a person would."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from rubrics.stages.pipeline import run_stages
from rubrics.stages.stage import run_here
from rubrics.store.store import Store

CRITERIA = {
    "solution": ("handles-the-edge-case", "names-say-what-things-are", "follows-the-code-around-it"),
    "behavior": ("checks-its-assumptions", "stays-on-the-task"),
}
_ITEM = """
  - id: {id}
    text: "{text}."
    weight: 2
    method: judge
    guidance: Look at the change as a whole.
    scale: [poor, fair, good]
"""


def with_judge_criteria(store: Store, root: Path) -> Store:
    """A copy of the store in which every rubric asks a judge for some criteria more."""
    shutil.copytree(store.paths.root, root)
    for kind, ids in CRITERIA.items():
        for file in (root / "rubrics").glob(f"*.{kind}.yaml"):
            text = file.read_text("utf-8").replace("criteria: []", "criteria:").rstrip("\n")
            items = "".join(_ITEM.format(id=name, text=name.replace("-", " ").capitalize()) for name in ids)
            file.write_text(text + items, "utf-8")
    return Store.open(root)


def score(store: Store, url: str, *more: str, **options: Any) -> dict[str, int]:
    """Run `score` (and the stages named) with a model behind `url`, without an orchestrator."""
    values = {"store": str(store.paths.root), "model": "m", "base_url": url, "judge": "single", "price": (1.0, 2.0)}
    return run_stages(("score", *more), {**values, **options}, run_here)
