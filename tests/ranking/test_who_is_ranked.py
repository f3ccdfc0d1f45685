"""Who takes part agrees with the reward engine, and one model answers for a group."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from ranking_store import id_of

sys.path.append(str(Path(__file__).resolve().parents[1] / "unit"))
from engine_store import random_store

from rubrics.ranking.bouts import Heard
from rubrics.ranking.marks import Marks
from rubrics.ranking.plan import plan
from rubrics.records.rollouts import Rollout
from rubrics.rewards.config import RewardConfig
from rubrics.stages.options import Options
from rubrics.stages.rank_groups import Group, entrants, groups_to_rank
from rubrics.stages.rank_rows import Played, ranking_rows, rounds_of
from rubrics.stages.reward import Reward
from rubrics.stages.stage import drive, run_here

_ENGINE = """
SELECT task_id, group_id, list(rollout_id ORDER BY rollout_id) AS passes FROM rewards
WHERE route = 'gar' AND test = 1 AND coalesce(hack, 'none') <> 'confirmed'
GROUP BY task_id, group_id HAVING count(*) > 1 ORDER BY task_id, group_id
"""


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("drop", [False, True])
def test_the_groups_and_passes_are_those_that_the_reward_engine_would_rank(
    tmp_path: Path, seed: int, drop: bool
) -> None:
    store = random_store(tmp_path / "s", seed, tasks=8)
    tasks = [row["task_id"] for row in store.query("SELECT DISTINCT task_id FROM rollouts").to_pylist()]
    found, left_out = groups_to_rank(store, tasks, RewardConfig(), drop)
    drive(Reward(store, Options(str(store.paths.root), drop_duplicates=drop)), store, run_here, 1)
    expected = [(row["task_id"], row["group_id"], tuple(row["passes"])) for row in store.query(_ENGINE).to_pylist()]
    assert [(item.task_id, item.group_id, item.passes) for item in found] == expected
    groups = store.query("SELECT DISTINCT task_id, group_id FROM rewards").num_rows
    assert len(found) + sum(left_out.values()) == groups


def attempt(name: str, patch: str, transcript: str | None = "t") -> Rollout:
    return Rollout(
        id_of(name), "c", transcript, "t", "g", None, None, "r", 0, "native", patch, None, None, None, None, None, None,
        None, "",
    )  # fmt: skip


DIFF = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -{line} +{line} @@\n-a\n+b\n"


def test_patches_that_differ_in_line_numbers_or_line_ends_only_are_one_and_garbage_is_itself() -> None:
    same = [
        attempt("a", DIFF.format(line=1)),
        attempt("b", DIFF.format(line=9)),
        attempt("c", DIFF.format(line=1) + "\n"),
    ]
    assert [len(item.ids) for item in entrants(same)] == [3]
    other = attempt("d", DIFF.format(line=1), "another transcript")
    found = entrants([*same, other])
    assert len(found) == 2
    assert len({item.patch_digest for item in found}) == 1
    assert len({item.patch_digest for item in entrants([attempt("e", "no diff"), attempt("f", "none either")])}) == 2


def played(*models: str | None) -> Played:
    found = entrants([attempt("a", DIFF.format(line=1)), attempt("b", DIFF.format(line=1).replace("+b", "+c"))])
    names = tuple(item.rollout.rollout_id for item in found)
    cut, showings = plan(names, (), len(models), "g")
    marks = (Marks((4, 4, 4, 4, 4), frozenset(), {}),) * 2
    heard = [
        Heard("single:m", marks, False, model=model) if model else Heard("single:m", failure_class="timeout")
        for model in models
    ]
    return Played(Group("t", "g", names, ()), tuple(found), cut, tuple(zip(showings, heard, strict=True)))


def test_rounds_that_another_model_answered_do_not_count() -> None:
    results = rounds_of(played("m-1", "m-2", None, "m-2"))
    assert [item.failure_class for item in results] == ["wrong_model", None, "timeout", None]
    assert "answered by m-1, other rounds by m-2" in results[0].detail
    assert all(item.failure_class == "timeout" for item in rounds_of(played(None, None)))


def test_rows_of_a_round_without_an_answer_are_null_and_say_why() -> None:
    game = played(None)
    rows = list(ranking_rows(game, rounds_of(game)))
    assert len(rows) == 2
    for row in rows:
        assert (row["usable"], row["failure_class"], row["evidence"]) == (False, "timeout", None)
        assert "approach" not in row
        assert row["test_workaround"] is None
        assert row["label"]
