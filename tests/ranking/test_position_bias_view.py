"""The view `position_bias` says of stored rankings what the pure function says."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from rubrics.ranking.bias import Shown, position_bias
from rubrics.ranking.plan import plan
from rubrics.records.rankings import CHECKS
from rubrics.store.store import Store


def rows(group: str, size: int, rounds: int, chance: random.Random, judge: str = "agent:m") -> list[dict[str, Any]]:
    """Random marks; whoever is shown first gets more."""
    names = tuple(f"{group}-{number:02}" for number in range(size))
    found = []
    for showing in plan(names, (), rounds, group)[1]:
        for position, candidate in enumerate(showing.order):
            levels = [min(5, chance.randint(1, 4) + (position == 0)) for _ in CHECKS]
            found.append({
                "task_id": "t", "group_id": group, "rollout_id": names[candidate], "round": showing.round,
                "slice": showing.slice, "position": position, "label": showing.candidate_labels[candidate],
                **dict(zip(CHECKS, levels, strict=True)), "usable": True, "judge": judge,
            })  # fmt: skip
    return found


def stored(root: Path, found: list[dict[str, Any]]) -> Store:
    store = Store.create(root)
    with store.writing() as run:
        run.append("rankings", found)
    return store


def shown(found: list[dict[str, Any]]) -> list[Shown]:
    weights = (6, 5, 4, 3, 2)
    return [
        Shown(
            row["rollout_id"], row["position"], sum(w * row[c] for w, c in zip(weights, CHECKS, strict=True)),
            row["group_id"],
        )
        for row in found
    ]  # fmt: skip


def test_the_view_and_the_function_agree(tmp_path: Path) -> None:
    chance = random.Random(1)
    found = [row for number in range(6) for row in rows(f"g{number}", chance.randint(2, 8), 1 + number, chance)]
    answer = stored(tmp_path / "s", found).query("FROM position_bias").to_pylist()
    expected = position_bias(shown(found))
    assert [row["position"] for row in answer] == [item.position for item in expected]
    assert [row["entries"] for row in answer] == [item.entries for item in expected]
    assert [row["points"] for row in answer] == pytest.approx([item.points for item in expected])
    assert [row["standardized"] for row in answer] == pytest.approx([item.standardized for item in expected])
    assert answer[0]["points"] > 5


def test_judges_are_kept_apart_and_what_is_unusable_or_without_a_position_is_left_out(tmp_path: Path) -> None:
    chance = random.Random(2)
    good, other = rows("g", 4, 4, chance), rows("h", 4, 4, chance, "single:m")
    broken = [{**row, "round": row["round"] + 4, "usable": row["position"] > 0} for row in good]
    nowhere = [{**row, "round": row["round"] + 8, "position": None} for row in good]
    answer = stored(tmp_path / "s", [*good, *other, *broken, *nowhere]).query("FROM position_bias").to_pylist()
    assert {row["judge"]: row["entries"] for row in answer if row["position"] == 0} == {"agent:m": 4, "single:m": 4}
    mine = [row["points"] for row in answer if row["judge"] == "agent:m"]
    assert mine == pytest.approx([item.points for item in position_bias(shown(good))])


def test_duplicates_that_are_shown_once_count_once(tmp_path: Path) -> None:
    good = rows("g", 3, 6, random.Random(3))
    twins = [{**row, "rollout_id": f"{row['rollout_id']}-twin"} for row in good if row["rollout_id"] == "g-00"]
    answer = stored(tmp_path / "s", [*good, *twins]).query("FROM position_bias").to_pylist()
    assert [row["entries"] for row in answer] == [6, 6, 6]


def test_a_store_without_rankings_has_no_bias(tmp_path: Path) -> None:
    assert stored(tmp_path / "s", []).query("FROM position_bias").num_rows == 0
