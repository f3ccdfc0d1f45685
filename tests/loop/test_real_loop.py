"""The whole loop on published rollouts, a model in every role: what is sound counts, what is nonsense never does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loop.nonsense import Nonsense
from loop.real_loop import SHARE, invented, roles, run_loop, table
from model_server.everything import everything
from model_server.server import ModelServer, serving

from rubrics.stages.restoring import restore_commit
from rubrics.store.manifest import history
from rubrics.store.store import Store

GRADE = ("rollout_id", "rubric_digest", "criterion_id")


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with serving(everything) as running:
        yield running


@pytest.fixture(scope="module")
def sound(server: ModelServer, real: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, dict[str, int]]:
    """A store made with a model that plays every role soundly; and how often each role was asked."""
    server.requests.clear()
    store = run_loop(tmp_path_factory.mktemp("loop") / "store", real, server.url)
    return store, dict(roles(server))


def test_every_rollout_with_a_rubric_is_judged_and_nothing_is_made_up(sound: tuple[Store, dict[str, int]]) -> None:
    store, asked = sound
    assert set(asked) == {"author", "judge", "audit", "rank"}
    assert store.count("judgements") == 20, "20 attempts have a task with rubrics; 19 predictions have none"
    assert {row["failure_class"] for row in store.rows("judgements")} == {None}
    assert {row["usable"] for row in store.rows("rankings")} == {True}
    assert {row["verdict"] for row in store.rows("audits", where="source LIKE 'judge:%'")} <= {
        "confirmed", "suspected", "none",
    }  # fmt: skip
    statuses = table(store, "SELECT status, count(*) AS n FROM rewards GROUP BY 1 ORDER BY 1")
    assert [(row["status"], row["n"]) for row in statuses] == [("infra", 2), ("ok", 18), ("unknown", 19)]
    assert invented(store) == []


def test_a_second_run_asks_nothing_and_changes_nothing(
    sound: tuple[Store, dict[str, int]], server: ModelServer, real: Path, tmp_path: Path
) -> None:
    root = Path(shutil.copytree(sound[0].paths.root, tmp_path / "store"))
    server.requests.clear()
    again = run_loop(root, real, server.url, resynthesize=True)
    assert server.requests == []
    assert content(again) == content(sound[0])


def test_nonsense_from_every_role_costs_what_it_hit_and_nothing_else(
    sound: tuple[Store, dict[str, int]], server: ModelServer, real: Path, tmp_path: Path
) -> None:
    broken = Nonsense(everything, SHARE, seed=2)  # hits every role, and leaves rubrics to compare by
    server.script = broken
    try:
        store = run_loop(tmp_path / "store", real, server.url)
    finally:
        server.script = everything
    assert {"author", "judge", "audit", "rank"} <= set(broken.spoilt)
    assert invented(store) == []
    assert wrong_grades(store, sound[0]) == []
    assert compared_rewards(store, sound[0]) > 0


def test_a_rerun_asks_only_for_what_failed_and_ends_where_a_sound_run_does(
    sound: tuple[Store, dict[str, int]], server: ModelServer, real: Path, tmp_path: Path
) -> None:
    root = Path(shutil.copytree(sound[0].paths.root, tmp_path / "store"))
    for file in root.glob("model-cache.sqlite*"):
        file.unlink()
    restore_commit(root, next(item.commit for item in history(root) if item.stage == "synthesize"))
    stages = ("score", "audit", "reward")
    server.script = Nonsense(everything, 3 * SHARE, seed=1, turns=False)
    try:
        broken = run_loop(root, real, server.url, stages, dumps=[])
    finally:
        server.script = everything
    lost, before = failed(broken), compared(broken)
    assert lost["judge"] > 0
    assert invented(broken) == []
    assert wrong_grades(broken, sound[0]) == []
    server.requests.clear()
    repaired = run_loop(root, real, server.url, stages, dumps=[])
    asked = roles(server)
    assert asked["judge"] == lost["judge"]
    assert asked["rank"] == len(compared(repaired) - before), "rounds that failed, and of groups that changed"
    assert asked["author"] == 0
    assert failed(repaired) == {"judge": 0, "rank": 0}
    assert content(repaired) == content(sound[0])


def compared(store: Store) -> set[tuple[str, int, frozenset[str]]]:
    """Rounds of rankings that came to an end, each with the attempts that it compared."""
    rounds: dict[tuple[str, int], set[str]] = {}
    for row in store.rows("rankings", where="failure_class IS NULL"):
        rounds.setdefault((row["group_id"], row["round"]), set()).add(row["rollout_id"])
    return {(group, number, frozenset(attempts)) for (group, number), attempts in rounds.items()}


def failed(store: Store) -> dict[str, int]:
    """What was asked in vain: judgements, and rounds of rankings."""
    rounds = table(store, "SELECT DISTINCT group_id, round FROM rankings WHERE failure_class IS NOT NULL")
    return {"judge": len(store.rows("judgements", where="failure_class IS NOT NULL")), "rank": len(rounds)}


def wrong_grades(store: Store, right: Store) -> list[Any]:
    """Values that differ from those of the sound run, where the same question was asked of the same rollout."""
    known = {tuple(row[name] for name in GRADE): row["value"] for row in right.rows("grades")}
    return [
        row
        for row in store.rows("grades")
        if row["value"] is not None and row["value"] != known.get(tuple(row[name] for name in GRADE), row["value"])
    ]


def compared_rewards(store: Store, right: Store) -> int:
    """How many rollouts nothing went wrong with: their scores and products are those of the sound run, and where
    nothing went wrong with their whole group, so is their final reward (a pass that is masked is no measure for the
    lengths of the others). Rollouts whose rubrics differ are not compared: their author or its trial was hit.
    """
    before = {row["rollout_id"]: row for row in right.rows("rewards")}
    lost = {row["rollout_id"] for row in store.rows("judgements", where="failure_class IS NOT NULL")}
    rows = store.rows("rewards")
    hit = lost | {row["rollout_id"] for row in rows if row["hack"] != before[row["rollout_id"]]["hack"]}
    groups = {row["group_id"] for row in rows if row["rollout_id"] in hit}
    compared = 0
    for row in rows:
        other = before[row["rollout_id"]]
        same = all(row[name] == other[name] for name in ("solution_rubric", "behavior_rubric"))
        if same and row["rollout_id"] not in hit:
            names = ["test", "solution", "behavior"]
            names += ["status", "route", "reward_raw", "reward"] if row["group_id"] not in groups else []
            assert [row[name] for name in names] == [other[name] for name in names]
            compared += row["reward"] is not None
    return compared


def content(store: Store) -> dict[str, Any]:
    """What counts of the tables that a model had a part in."""
    left_out = {"detail", "code_version"}
    tables = {
        name: [{key: value for key, value in row.items() if key not in left_out} for row in store.rows(name)]
        for name in ("grades", "rankings", "audits", "rewards")
    }
    order = {"grades": GRADE, "rankings": ("rollout_id", "round"), "audits": ("rollout_id", "source", "kind")}
    return {
        name: sorted(rows, key=lambda row: [row[key] for key in order.get(name, ("rollout_id",))])
        for name, rows in tables.items()
    }
