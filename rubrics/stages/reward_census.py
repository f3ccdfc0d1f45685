"""What the census says of the reward: what was masked, dropped, capped, floored, and by which route."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from rubrics.records.census import Subject
from rubrics.rewards.engine import EngineOutputs
from rubrics.rewards.filtering import DROP_REASONS
from rubrics.rewards.hacks import CONFIRMED
from rubrics.rewards.product import UNGRADED
from rubrics.rewards.ranking import UNRANKED, UNUSABLE
from rubrics.rewards.routing import GAR, ROUTES
from rubrics.store.arrays import run_starts

DETAILS = {
    "duplicate_dropped": "left out by --drop-duplicates",
    "duplicate_kept": "repeat another's patch and transcript; count in their group",
    "hack_reset": "passes whose confirmed hack sets the reward to 0",
    "length_floored": "passes whose length penalty is larger than their reward",
    "mixed_routes": "tasks whose groups have different routes",
    "group_capped": "groups whose scale the cap cut: mass is lost, the group is centred again",
    "group_ranking_unusable": "ranked groups whose ranking is not usable: plain advantages",
    "group_not_ranked": "groups of route gar that nothing ranked: plain advantages",
    "ungraded_no_transcript": "no transcript: `--factors solution` would score it by its patch",
    "ungraded_no_patch": "no patch: `--factors behavior` would score it by its transcript",
    **{f"group_{reason}": "groups dropped: they carry no signal" for reason in DROP_REASONS if reason},
    **{f"route_{route}": "groups of this route" for route in ROUTES},
}


def chunk_counts(table: Any, outputs: EngineOutputs, failures: list[str | None]) -> Counter[tuple[Subject, str]]:
    """Number of cases per subject and kind."""
    counts: Counter[tuple[Subject, str]] = Counter()
    for place in np.flatnonzero(outputs.status == UNGRADED):
        counts["rollout", f"ungraded_{failures[place]}"] += 1
    counts["rollout", "duplicate_kept"] = table.num_rows - int(table.column("duplicate_of").null_count)
    counts["rollout", "hack_reset"] = int(((outputs.hack == CONFIRMED) & (outputs.test == 1)).sum())
    counts["rollout", "length_floored"] = int((outputs.length_floored == 1).sum())
    first = run_starts(table, "task_id", "group_id")
    route, drop = outputs.route[first], outputs.drop_reason[first]
    for code, name in enumerate(ROUTES):
        counts["run", f"route_{name}"] = int((route == code).sum())
    for code, name in enumerate(DROP_REASONS):
        if name:
            counts["run", f"group_{name}"] = int((drop == code).sum())
    gar = (route == GAR) & (drop == 0)
    counts["run", "group_capped"] = int((outputs.capped[first] == 1).sum())
    counts["run", "group_ranking_unusable"] = int((gar & (outputs.ranking[first] == UNUSABLE)).sum())
    counts["run", "group_not_ranked"] = int((gar & (outputs.ranking[first] == UNRANKED)).sum())
    tasks = run_starts(table, "task_id")
    mixed = np.maximum.reduceat(outputs.route, tasks) != np.minimum.reduceat(outputs.route, tasks)
    counts["run", "mixed_routes"] = int(mixed.sum())
    return counts
