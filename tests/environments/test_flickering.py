"""Tests that say one thing in one run and another in the next are flagged, listed, and cost nobody a number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from environment_helpers import RECIPE, STATE, diff, started_or_skipped

from rubrics.stages.environments import open_environment
from rubrics.stages.options import Options
from rubrics.stages.stage import drive, run_here
from rubrics.stages.test import Test
from rubrics.store.store import Store

DICE = diff("test_dice.py", "", "import random\nimport unittest\n\n\nclass Dice(unittest.TestCase):\n" + "".join(
    f"    def test_{n:02}(self):\n        self.assertTrue(random.random() < 0.5)\n\n" for n in range(64)
) + "    def test_sure(self):\n        pass\n")  # fmt: skip


@pytest.fixture
def store(tmp_path: Path, repository: Path) -> Store:
    """One task, whose hidden tests throw dice, and two rollouts of equal state."""
    store = Store.create(tmp_path / "store")
    with store.writing() as run:
        run.append("tasks", [{
            "task_id": "dice", "repository": str(repository), "recipe": json.dumps(RECIPE), "source": "",
            "test_command": "python3 -m unittest -v test_dice",
        }])  # fmt: skip
        run.append("sealed", [{"task_id": "dice", "test_patch": DICE}])
        run.append("rollouts", [{"rollout_id": name, "task_id": "dice", "patch": ""} for name in ("a", "b")])
    return store


def test_repeats_that_disagree_are_counted_and_listed_by_test_and_run(
    base: None, store: Store, repository: Path
) -> None:
    started_or_skipped("bubblewrap").close()
    options = Options(str(store.paths.root), env="bubblewrap", repeat=2)
    with open_environment(options, store, root=STATE) as opener:
        drive(Test(store, options, opener), store, run_here, 1)
    (line,) = store.rows("census", where="stage = 'test' AND kind = 'flickering'")
    assert (line["place"], line["count"]) == ("dice", 2)
    assert "tests change: " in line["detail"]
    rows = store.query("FROM flaky_tests ORDER BY rollout_id, test_id").to_pylist()
    assert {row["rollout_id"] for row in rows} == {"a", "b"}
    assert all(row["runs"] == 2 for row in rows)
    assert not [row for row in rows if "sure" in (row["test_id"] or "")]
    by_run = {row["source"]: json.loads(row["tests"]) for row in store.rows("outcomes", where="rollout_id = 'a'")}
    differ = {name for name, status in by_run["run:1"].items() if by_run["run:2"][name] != status}
    assert differ == {row["test_id"] for row in rows if row["rollout_id"] == "a"}


def test_a_later_run_that_differs_from_an_earlier_one_is_told_too_and_infra_says_nothing(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    said = {
        "run:1": ("passed", {"t": "passed", "u": "passed", "gone": "passed"}), "run:2": ("infra", None),
        "run:10": ("failed", {"t": "failed", "u": "passed"}), "run:9": ("passed", {"t": "passed", "u": "passed"}),
        "harness:x": ("failed", {"u": "failed"}), "run:11": ("failed", None),
    }  # fmt: skip
    with store.writing() as run:
        run.append("outcomes", [
            {"rollout_id": "r", "task_id": "k", "source": source, "outcome": outcome,
             "tests": None if tests is None else json.dumps(tests)}
            for source, (outcome, tests) in said.items()
        ])  # fmt: skip
    rows = store.query("SELECT test_id, runs, passes, said FROM flaky_tests ORDER BY test_id NULLS FIRST").to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        (None, 4, 2, "run:1 passed, run:9 passed, run:10 failed, run:11 failed"),
        ("gone", 1, 1, "run:1 passed"),
        ("t", 3, 2, "run:1 passed, run:9 passed, run:10 failed"),
    ]
