"""What the page shows without JavaScript: counts, census, groups, how criteria fared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from rubrics import __version__
from rubrics.report.charts import Chart, histogram
from rubrics.store.store import Store
from rubrics.visible import one_line

_HEAD = """
    SELECT count(*) AS rollouts, count(DISTINCT rollouts.task_id) AS tasks, count(reward) AS rewarded,
           count(*) FILTER (WHERE test = 1) AS passed, count(DISTINCT rollouts.group_id) AS groups,
           count(DISTINCT rollouts.group_id) FILTER (WHERE kept) AS kept,
           coalesce(string_agg(DISTINCT judge, ', ' ORDER BY judge), 'none') AS judges
    FROM rollouts LEFT JOIN rewards ON rewards.rollout_id = rollouts.rollout_id
"""
_STATUSES = """
    FROM (
      SELECT coalesce(status, 'no reward row') AS status, failure_class AS why, count(*) AS n
      FROM rollouts LEFT JOIN rewards ON rewards.rollout_id = rollouts.rollout_id
      GROUP BY ALL
    ) ORDER BY status <> 'ok', status, n DESC, why
"""
_GROUPS = """
    SELECT rollouts.group_id, any_value(rollouts.task_id) AS task_id, any_value(rollouts.source_group) AS source_group,
           CASE WHEN count(DISTINCT rollouts.policy_step) = 1 THEN any_value(rollouts.policy_step) END AS policy_step,
           CASE WHEN count(DISTINCT rollouts.policy) = 1 THEN any_value(rollouts.policy) END AS policy,
           count(*) AS n, count(reward) AS valid,
           count(*) FILTER (WHERE test = 1) AS passed, any_value(group_mean) AS mean, any_value(kept) AS kept,
           any_value(drop_reason) AS drop_reason, any_value(route) AS route,
           list(reward ORDER BY rollouts.rollout_id) FILTER (WHERE reward IS NOT NULL) AS rewards,
           list(test = 1 ORDER BY rollouts.rollout_id) FILTER (WHERE reward IS NOT NULL) AS passes
    FROM rollouts LEFT JOIN rewards ON rewards.rollout_id = rollouts.rollout_id
    GROUP BY rollouts.group_id
"""
_FARED = """
    SELECT rubric_digest, criterion_id, studied, test = 1 AS passed, avg(value) AS mean, count(DISTINCT rollout_id) AS n
    FROM grades JOIN rewards USING (rollout_id, judge)
    WHERE rubric_digest IN (solution_rubric, behavior_rubric) AND test IS NOT NULL AND value IS NOT NULL
    GROUP BY ALL ORDER BY rubric_digest, criterion_id, studied DESC, passed DESC
"""


def head(store: Store) -> dict[str, Any]:
    """The counts at the top."""
    row: dict[str, Any] = store.query(_HEAD).to_pylist()[0]
    return {**row, "rubrics": store.count("rubrics"), "version": __version__, "store": store.paths.root.name}


def statuses(store: Store) -> list[dict[str, Any]]:
    """Every status with why and how often: each rollout is in exactly one row."""
    return [_clean(row) for row in store.query(_STATUSES).to_pylist()]


def census(store: Store) -> list[dict[str, Any]]:
    """What was left out, merged, overruled or doubted: one item per stage, subject and kind, with all its lines."""
    lines = store.rows("census")
    named = groupby(lines, key=lambda row: tuple(one_line(row[name]) for name in ("stage", "subject", "kind")))
    return [_census_item(key, [_clean(row) for row in rows]) for key, rows in named]


def _census_item(key: tuple[str, ...], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Lines that say the same are one, with all their places."""
    places: dict[str, list[str]] = {}
    for row in rows:
        times = f" ({row['count']})" if row["count"] > 1 else ""
        places.setdefault(row["detail"], []).append((row["place"] or "the whole run") + times)
    stage, subject, kind = key
    lines = [{"detail": detail, "places": found} for detail, found in places.items()]
    return {"stage": stage, "subject": subject, "kind": kind, "n": sum(row["count"] for row in rows), "lines": lines}


def groups(store: Store) -> dict[str, dict[str, Any]]:
    """By group_id: the numbers of the group, its `name` beside that of its task, and a chart of its rewards."""
    rows = store.query(_GROUPS).to_pylist()
    of_task = Counter(row["task_id"] for row in rows)
    return {
        row["group_id"]: {
            **_clean(row),
            "name": one_line(_name(row, of_task[row["task_id"]] == 1)),
            "chart": histogram(_pairs(row), 32, 160, 28, 7),
        }
        for row in rows
    }


def _name(row: Mapping[str, Any], alone: bool) -> str:
    """What a person calls a group: the dump's own name of it, else its step; of several of a task, its policy too."""
    step = None if row["policy_step"] is None else f"step {row['policy_step']}"
    own = row["source_group"] if row["source_group"] is not None else step
    return ", ".join(part for part in (own, None if alone else row["policy"]) if part)


def all_rewards(rows: Iterable[Mapping[str, Any]]) -> Chart:
    """One chart of the rewards of all groups."""
    return histogram((pair for row in rows for pair in _pairs(row)), 50, 600, 120, 24)


def fared(store: Store) -> dict[str, dict[str, str]]:
    """By rubric and criterion: mean value over passes and failures, of the studied attempts and of the others."""
    found: dict[str, dict[str, str]] = {}
    for (digest, criterion), rows in groupby(
        store.query(_FARED).to_pylist(), key=lambda row: (row["rubric_digest"], row["criterion_id"])
    ):
        parts: dict[bool, list[str]] = {}
        for row in rows:
            word = "passing" if row["passed"] else "failing"
            parts.setdefault(row["studied"], []).append(f"{word} {row['mean']:.2f} ({row['n']})")
        sides = (f"{'studied' if studied else 'others'}: {', '.join(words)}" for studied, words in parts.items())
        found.setdefault(digest, {})[criterion] = "; ".join(sides)
    return found


def _pairs(row: Mapping[str, Any]) -> zip[tuple[float, bool]]:
    return zip(row["rewards"] or (), row["passes"] or (), strict=True)


def _clean(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one_line(value) if isinstance(value, str) else value for name, value in row.items()}
