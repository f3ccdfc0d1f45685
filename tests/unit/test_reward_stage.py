"""From stored tables to `rewards`, `token_weights` and their accounts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engine_store import random_store

from rubrics.errors import UsageError
from rubrics.rewards.config import RewardConfig
from rubrics.stages.pipeline import run_stages
from rubrics.stages.stage import run_here
from rubrics.store.store import Store
from rubrics.store.streams import whole


def reward(store: Store, **options: Any) -> dict[str, int]:
    return run_stages(("reward",), {"store": str(store.paths.root), **options}, run_here)


def small_store(root: Path, **tables: list[dict[str, Any]]) -> Store:
    store = Store.create(root)
    with store.writing() as run:
        for name, rows in tables.items():
            run.append(name, rows)
    return store


def rollout(name: str, **fields: Any) -> dict[str, Any]:
    plain = {"rollout_id": name, "transcript_digest": f"t-{name}", "task_id": "t", "group_id": "g", "policy": "p"}
    return {**plain, "run": "r", "attempt": 0, **fields}


def outcome(name: str, result: str) -> dict[str, Any]:
    return {"rollout_id": name, "task_id": "t", "source": "run:1", "outcome": result}


def transcript(name: str, *turns: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps([{"role": "user", "text": "do"}, *turns], separators=(",", ":"))
    return {"transcript_digest": f"t-{name}", "task_id": "t", "turns": text}


def said(tokens: int | None, *flags: str) -> dict[str, Any]:
    turn: dict[str, Any] = {"role": "assistant", "text": ""}
    return {
        **turn,
        **({} if tokens is None else {"output_tokens": tokens}),
        **({"flags": list(flags)} if flags else {}),
    }


def two_of_three(root: Path, *transcripts: dict[str, Any], **more: list[dict[str, Any]]) -> Store:
    """Rollouts a and b pass, c fails; without ranking the advantages are 1/3, 1/3 and -2/3."""
    return small_store(
        root,
        tasks=[{"task_id": "t"}],
        rollouts=[rollout(name, output_tokens=tokens) for name, tokens in (("a", 30), ("b", 30), ("c", 28))],
        outcomes=[outcome("a", "passed"), outcome("b", "passed"), outcome("c", "failed")],
        transcripts=list(transcripts),
        **more,
    )


def spans(store: Store) -> list[tuple[Any, ...]]:
    return [
        (row["rollout_id"], row["turn"], row["kind"], row["tokens"], pytest.approx(row["multiplier"]))
        for row in store.rows("token_weights")
    ]


def kinds(store: Store, stage: str) -> dict[str, int]:
    return {row["kind"]: row["count"] for row in store.rows("census", where="stage = $stage", stage=stage)}


def test_flagged_turns_weigh_nothing_in_a_pass_and_the_rest_makes_up_for_it(tmp_path: Path) -> None:
    store = two_of_three(tmp_path / "s", transcript("a", said(28), said(2, "malformed_call")))
    reward(store)
    alpha = pytest.approx(1 + 2 / 58)  # 28 clean tokens of a and 30 of b, equal advantages
    assert spans(store) == [
        ("a", 2, "malformed_call", 2, pytest.approx(0.0)),
        ("a", None, "clean", 28, alpha),
        ("b", None, "clean", 30, alpha),
    ]
    batch = store.rows("token_batches")[0]
    assert batch["mass_positive"] == pytest.approx(20)
    assert batch["mass_positive_after"] == pytest.approx(20)


def test_flagged_turns_weigh_double_in_a_failure_and_its_other_turns_less(tmp_path: Path) -> None:
    store = two_of_three(tmp_path / "s", transcript("c", said(12), said(4, "bad_arguments"), said(12)))
    reward(store)
    assert spans(store) == [
        ("c", 2, "bad_arguments", 4, pytest.approx(2.0)),
        ("c", None, "clean", 24, pytest.approx(5 / 6)),
    ]


def test_a_turn_with_two_flags_is_one_span_and_other_flags_and_demonstrations_are_none(tmp_path: Path) -> None:
    turns = (
        said(5, "demonstration", "malformed_call"),
        said(20, "truncated_observation"),
        said(4, "stray_markup", "malformed_call"),
    )
    store = two_of_three(tmp_path / "s", transcript("c", *turns))
    reward(store)
    assert spans(store) == [
        ("c", 3, "malformed_call", 4, pytest.approx(2.0)),
        ("c", None, "clean", 20, pytest.approx(0.8)),
    ]


def test_a_rollout_without_token_counts_has_no_weights_and_is_counted(tmp_path: Path) -> None:
    store = two_of_three(tmp_path / "s", transcript("a", said(None), said(2, "malformed_call")))
    reward(store)
    assert spans(store) == []
    assert kinds(store, "token_weights") == {"no_token_counts": 1}
    assert store.rows("token_batches")[0]["without_counts"] == 1


def test_a_binding_clamp_and_a_side_without_clean_tokens_are_told(tmp_path: Path) -> None:
    store = two_of_three(tmp_path / "s", transcript("c", said(28, "malformed_call")))
    reward(store)
    assert kinds(store, "token_weights") == {"negative_unclean": 1}
    store = two_of_three(tmp_path / "u", transcript("c", said(10), said(18, "malformed_call")))
    reward(store)
    assert kinds(store, "token_weights") == {"beta_clamped": 1}


def test_rankings_move_advantage_and_an_audit_takes_a_pass_out(tmp_path: Path) -> None:
    levels = {"approach": 5, "precision": 5, "minimality": 5, "side_effects": 5, "craftsmanship": 5}
    ranks = [
        {
            "task_id": "t",
            "group_id": "g",
            "rollout_id": name,
            "round": 0,
            "usable": True,
            **levels,
            "approach": approach,
        }
        for name, approach in (("a", 5), ("b", 3))
    ]
    store = two_of_three(tmp_path / "s", rankings=ranks)
    reward(store)
    assert [(row["tier"], row["rank"], row["quality_factor"]) for row in store.rows("rewards")] == [
        (1, 1, 1.0), (2, 2, 0.85), (None, None, None),
    ]  # fmt: skip
    assert store.rows("rewards")[0]["advantage"] > store.rows("rewards")[1]["advantage"]
    audit = {"rollout_id": "a", "task_id": "t", "source": "rule", "kind": "history", "verdict": "confirmed"}
    store = two_of_three(tmp_path / "u", audits=[{**audit, "evidence": "transcript:4"}])
    reward(store)
    assert [(row["hack"], row["reward"]) for row in store.rows("rewards")] == [("confirmed", 0), (None, 1), (None, 0)]
    assert kinds(store, "reward")["hack_reset"] == 1


def test_a_finding_without_evidence_is_ignored(tmp_path: Path) -> None:
    audit = {"rollout_id": "a", "task_id": "t", "source": "rule", "kind": "history", "verdict": "confirmed"}
    store = two_of_three(tmp_path / "s", audits=[{**audit, "evidence": " "}])
    reward(store)
    assert store.rows("rewards")[0]["hack"] == "none"
    assert store.rows("rewards")[0]["reward"] == 1


def test_a_ranking_of_another_group_is_not_read(tmp_path: Path) -> None:
    """The rollouts were grouped otherwise when they were ranked."""
    levels = dict.fromkeys(("approach", "precision", "minimality", "side_effects", "craftsmanship"), 5)
    ranks = [
        {"task_id": "t", "group_id": "other", "rollout_id": name, "round": 0, "usable": True, **levels} for name in "ab"
    ]
    store = two_of_three(tmp_path / "s", rankings=ranks)
    reward(store)
    assert {row["ranking"] for row in store.rows("rewards")} == {"none"}
    assert kinds(store, "reward")["group_not_ranked"] == 1


def test_duplicates_count_in_their_group_or_are_left_out_and_both_is_counted(tmp_path: Path) -> None:
    copies = [rollout("a"), rollout("b"), rollout("c", duplicate_of="b")]
    results = [outcome("a", "passed"), outcome("b", "failed"), outcome("c", "failed")]
    store = small_store(tmp_path / "s", tasks=[{"task_id": "t"}], rollouts=copies, outcomes=results)
    reward(store)
    assert kinds(store, "reward")["duplicate_kept"] == 1
    assert store.rows("rewards")[0]["group_mean"] == pytest.approx(1 / 3)
    reward(store, drop_duplicates=True)
    assert kinds(store, "reward")["duplicate_dropped"] == 1
    assert [row["rollout_id"] for row in store.rows("rewards")] == ["a", "b"]
    assert store.rows("rewards")[0]["group_mean"] == pytest.approx(1 / 2)


def test_groups_of_two_tasks_with_the_same_name_are_two_groups(tmp_path: Path) -> None:
    rows = [rollout("a"), rollout("b"), rollout("c", task_id="u"), rollout("d", task_id="u")]
    results = [{**outcome(row["rollout_id"], "passed"), "task_id": row["task_id"]} for row in rows]
    results[1]["outcome"] = "failed"
    store = small_store(tmp_path / "s", tasks=[{"task_id": "t"}, {"task_id": "u"}], rollouts=rows, outcomes=results)
    reward(store)
    assert [row["group_size"] for row in store.rows("rewards")] == [2, 2, 2, 2]
    assert [row["route"] for row in store.rows("rewards")] == ["gar", "gar", "grs", "grs"]


def test_every_row_names_a_configuration_that_is_stored(tmp_path: Path) -> None:
    store = random_store(tmp_path / "s", 1)
    reward(store)
    digests = {row["config_digest"] for row in store.rows("rewards")}
    assert digests == {RewardConfig().digest()} == {row["config_digest"] for row in store.rows("reward_configs")}
    assert json.loads(store.rows("reward_configs")[0]["content"])["gar"] == {"cap": 1.5}


def test_a_dropped_group_has_neither_advantage_nor_twin(tmp_path: Path) -> None:
    store = random_store(tmp_path / "s", 2)
    reward(store)
    dropped = [row for row in store.rows("rewards") if not row["kept"]]
    assert dropped
    assert {(row["advantage"], row["reward_star"]) for row in dropped} == {(None, None)}


def test_a_wrong_configuration_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    store = random_store(tmp_path / "s", 1)
    file = tmp_path / "c.toml"
    file.write_text("[gar]\ncap = 0.5\n", "utf-8")
    with pytest.raises(UsageError, match=r"gar\.cap = 0\.5; wanted a number of at least 1"):
        reward(store, config=str(file))
    assert store.count("rewards") == 0


@pytest.mark.parametrize("rows", [1, 3, 7, 100])
def test_pieces_of_a_stream_are_cut_where_the_key_changes(rows: int) -> None:
    keys = [key for key, times in enumerate((1, 5, 2, 2, 9, 1)) for _ in range(times)]
    table = pa.table({"key": keys, "place": range(len(keys))})
    pieces = list(whole(iter([table.slice(start, 4) for start in range(0, len(keys), 4)]), "key", rows))
    assert pa.concat_tables(pieces).to_pydict() == table.to_pydict()
    held = [set(piece.column("key").to_pylist()) for piece in pieces]
    assert sum(len(one) for one in held) == len(set(keys))
    assert rows == 100 or len(pieces) > 1


def test_an_empty_store_has_an_empty_reward_table(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s")
    assert reward(store) == {"reward": 0, "token_weights": 0}
    assert store.count("rewards") == 0


def test_a_truncated_row_names_the_exit_status_that_cut_it_off(sample_store: Store) -> None:
    """It said only `truncated` where an outcome file had decided that the tests failed."""
    rows = sample_store.rows("rewards", where="status = 'truncated'")
    assert [row["failure_class"] for row in rows] == ["LimitsExceeded"]
