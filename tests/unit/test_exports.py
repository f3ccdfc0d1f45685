"""Exports: kept and valid rows only, the stored arithmetic or a refusal, nothing sealed, the same bytes twice."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from export_store import ADVANTAGES, CANARY, REWARDS, SPEC, make_store

from rubrics.cli.exporting import NAMES
from rubrics.cli.main import cli
from rubrics.errors import UsageError
from rubrics.exports.export import Trainer, export
from rubrics.exports.messages import conversation
from rubrics.exports.target import Limits
from rubrics.exports.targets import TARGETS, target_named
from rubrics.records.rollouts import ToolCall, Turn
from rubrics.store.store import Store

KEPT = sum(map(len, REWARDS.values()))
STORED = {f"{group}-{n}": value for group, values in ADVANTAGES.items() for n, value in enumerate(values)}
STARS = {f"{group}-{n}": value for group, values in REWARDS.items() for n, value in enumerate(values)}
ROW_FILES = {
    "trl": "rollouts.parquet", "verl": "train.parquet", "skyrl": "train.parquet", "parquet": "train.parquet",
    "openrlhf": "train.jsonl", "nemo": "rollouts.jsonl", "slime": "train.jsonl", "prime-rl": "rollouts.jsonl",
}  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return make_store(tmp_path_factory.mktemp("store") / "s")


def written(store: Store, name: str, place: Path, **options: Any) -> dict[str, Any]:
    return export(store, target_named(name), place, **options)


def rows_of(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"carried_{path.parent.name}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", sorted(ROW_FILES))
def test_every_kept_and_valid_rollout_is_written_once_and_nothing_else(store: Store, name: str, tmp_path: Path) -> None:
    manifest = written(store, name, tmp_path / name)
    rows = rows_of(tmp_path / name / ROW_FILES[name])
    assert len(rows) == manifest["rows"] == manifest["kept_rows"] == KEPT
    text = json.dumps(rows)
    assert all(rollout in text for rollout in STORED)
    assert "masked" not in text
    assert "dropped" not in text


@pytest.mark.parametrize("name", NAMES)
def test_no_export_holds_sealed_text(store: Store, name: str, tmp_path: Path) -> None:
    written(store, name, tmp_path / name)
    for path in (tmp_path / name).iterdir():
        assert CANARY.encode() not in path.read_bytes()
        if path.suffix == ".parquet":
            assert CANARY not in str(pq.read_table(path).to_pylist())


@pytest.mark.parametrize("name", NAMES)
def test_the_same_store_gives_the_same_bytes(store: Store, name: str, tmp_path: Path) -> None:
    for place in ("one", "two"):
        written(store, name, tmp_path / place)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == sorted(path.name for path in (tmp_path / "two").iterdir())
    assert all((tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes() for file in files)


@pytest.mark.parametrize("name", sorted(set(ROW_FILES) - {"parquet"}))
def test_the_reward_less_its_groups_mean_is_the_stored_advantage(store: Store, name: str, tmp_path: Path) -> None:
    written(store, name, tmp_path / name)
    rows = rows_of(tmp_path / name / ROW_FILES[name])
    told = [_told(row) for row in rows]
    for group in REWARDS:
        members = [(reward, advantage) for of, reward, advantage in told if of == group]
        mean = sum(reward for reward, _ in members) / len(members)
        assert [reward - mean for reward, _ in members] == pytest.approx([adv for _, adv in members], abs=1e-12)


def _told(row: dict[str, Any]) -> tuple[str, float, float]:
    inner = row.get("extra_info") or row.get("metadata") or row.get("rubrics") or row.get("info") or row
    return inner["group_id"], inner["reward"], inner["advantage"]


def test_plain_parquet_has_the_tables_own_columns_and_values(store: Store, tmp_path: Path) -> None:
    written(store, "parquet", tmp_path / "p")
    rows = rows_of(tmp_path / "p" / "train.parquet")
    table = {row["rollout_id"]: row for row in store.rows("rewards")}
    assert {row["rollout_id"] for row in rows} == set(STORED)
    assert all(row[name] == value for row in rows for name, value in table[row["rollout_id"]].items())


def test_a_column_that_is_not_known_stays_null(store: Store, tmp_path: Path) -> None:
    written(store, "parquet", tmp_path / "p")
    written(store, "nemo", tmp_path / "n")
    assert all(row["behavior"] is None for row in rows_of(tmp_path / "p" / "train.parquet"))
    assert all("behavior" not in row["reward_components"] for row in rows_of(tmp_path / "n" / "rollouts.jsonl"))


def test_prompt_is_what_came_before_the_first_answer_and_the_spec_where_no_transcript_is(
    store: Store, tmp_path: Path
) -> None:
    written(store, "parquet", tmp_path / "p")
    rows = {row["rollout_id"]: row for row in rows_of(tmp_path / "p" / "train.parquet")}
    assert [m["role"] for m in rows["g-ranked-0"]["prompt"]] == ["system", "user"]
    assert rows["g-product-0"]["prompt"] == [{"role": "user", "content": SPEC}]
    assert rows["g-product-0"]["prompt_source"] == "spec"
    assert rows["g-product-0"]["completion_source"] == "patch"
    assert rows["g-product-0"]["completion"][0]["content"].startswith("diff --git")


def test_function_calls_become_tool_calls_with_their_answers(store: Store, tmp_path: Path) -> None:
    written(store, "prime-rl", tmp_path / "p")
    rows = {row["info"]["rollout_id"]: row for row in rows_of(tmp_path / "p" / "rollouts.jsonl")}
    first, answer, broken, *_ = rows["g-ranked-1"]["completion"]
    assert first["reasoning_content"] == "Where is it?"
    assert json.loads(first["tool_calls"][0]["function"]["arguments"]) == {"command": "cat 1.py"}
    assert answer == {"role": "tool", "tool_call_id": "c1", "content": "no such file"}
    assert broken["tool_calls"][0]["function"]["arguments"] == '{"command": '


def test_text_actions_stay_text_and_their_observation_is_a_user_message() -> None:
    action = ToolCall("bash", {"command": "ls"}, "ls")
    told = conversation((Turn("user", "go"), Turn("assistant", "```\nls\n```", tool_calls=(action,), observation="a")))
    assert told.completion == ({"role": "assistant", "content": "```\nls\n```"}, {"role": "user", "content": "a"})


def test_one_observation_of_several_calls_answers_the_last() -> None:
    calls = tuple(ToolCall("t", {"n": n}, f'{{"n": {n}}}', "same") for n in range(2))
    told = conversation((Turn("assistant", "", tool_calls=calls, observation="both"),))
    ids = [call["id"] for call in told.completion[0]["tool_calls"]]
    assert len(set(ids)) == 2
    assert [(m["tool_call_id"], m["content"]) for m in told.completion[1:]] == [(ids[0], ""), (ids[1], "both")]


def test_demonstrations_belong_to_the_prompt() -> None:
    shown = Turn("assistant", "as I would do it", flags=("demonstration",))
    told = conversation((Turn("user", "go"), shown, Turn("assistant", "my own")))
    assert [m["content"] for m in told.prompt] == ["go", "as I would do it"]
    assert [m["content"] for m in told.completion] == ["my own"]


def test_std_normalisation_is_refused_with_the_reason(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"standard deviation.*--force"):
        written(store, "trl", tmp_path / "t", trainer=Trainer("std"))
    assert list(tmp_path.iterdir()) == []


def test_leave_one_out_and_mean_are_accepted(store: Store, tmp_path: Path) -> None:
    for estimator in ("mean", "loo"):
        assert "warning" not in written(store, "verl", tmp_path / estimator, trainer=Trainer(estimator))


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("trl", "scale_rewards=group"), ("trl", "scale_rewards=batch"), ("trl", "scale_rewards=True"),
        ("trl", "multi_objective_aggregation=normalize_then_sum"),
        ("verl", "algorithm.norm_adv_by_std_in_grpo=True"), ("verl", "algorithm.adv_estimator=reinforce_plus_plus"),
        ("verl", "algorithm.use_kl_in_reward=true"), ("skyrl", "trainer.algorithm.grpo_norm_by_std=true"),
        ("skyrl", "trainer.algorithm.advantage_batch_normalize=true"),
        ("openrlhf", "--algo.advantage.estimator=group_norm"),
        ("openrlhf", "--algo.advantage.estimator=reinforce_baseline"), ("openrlhf", "--reward.clip_range=-0.5,0.5"),
        ("nemo", "grpo.normalize_rewards=true"), ("nemo", "grpo.adv_estimator.name=gdpo"),
        ("slime", "--grpo-std-normalization"),
        ("slime", "--disable-rewards-normalization"), ("prime-rl", "advantage.length_penalty=tokens"),
    ],
)  # fmt: skip
def test_a_setting_that_breaks_the_arithmetic_is_refused(store: Store, name: str, setting: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="refused"):
        written(store, name, tmp_path / "x", trainer=Trainer(config=(setting,)))


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("trl", "scale_rewards=none"), ("trl", "scale_rewards=False"),
        ("verl", "algorithm.norm_adv_by_std_in_grpo=False"), ("verl", "algorithm.adv_estimator=rubrics_stored"),
        ("skyrl", "trainer.algorithm.advantage_estimator=rloo"), ("openrlhf", "--algo.advantage.estimator=dr_grpo"),
        ("openrlhf", "--reward.clip_range=-10,10"), ("nemo", "grpo.use_leave_one_out_baseline=true"),
        ("slime", "--disable-grpo-std-normalization"), ("prime-rl", "advantage.type=default"),
    ],
)  # fmt: skip
def test_a_setting_that_leaves_it_alone_is_accepted(store: Store, name: str, setting: str, tmp_path: Path) -> None:
    assert "warning" not in written(store, name, tmp_path / "x", trainer=Trainer(config=(setting,)))


def test_a_misspelt_setting_does_not_pass_for_a_harmless_one(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"scale_reward=group.*known: scale_rewards"):
        written(store, "trl", tmp_path / "x", trainer=Trainer(config=("scale_reward=group",)))


def test_a_whole_configuration_file_is_searched_for_what_matters(store: Store, tmp_path: Path) -> None:
    config = tmp_path / "run.json"
    config.write_text(json.dumps({"lr": 1e-6, "algorithm": {"norm_adv_by_std_in_grpo": True}}))
    with pytest.raises(UsageError, match=r"algorithm\.norm_adv_by_std_in_grpo=True"):
        written(store, "verl", tmp_path / "x", trainer=Trainer(config=(str(config),)))
    config.write_text(json.dumps({"lr": 1e-6, "algorithm": {"norm_adv_by_std_in_grpo": False}}))
    written(store, "verl", tmp_path / "x", trainer=Trainer(config=(str(config),)))


def test_clipping_is_refused_exactly_when_it_would_change_a_reward(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"rewards reach from 0 to 1\.25"):
        written(store, "verl", tmp_path / "x", trainer=Trainer(clip=(0.0, 1.0)))
    assert "warning" not in written(store, "verl", tmp_path / "x", trainer=Trainer(clip=(0.0, 1.25)))
    with pytest.raises(UsageError, match=r"advantages reach from -0\.6"):
        written(store, "openrlhf", tmp_path / "y", trainer=Trainer(clip=(-0.5, 10.0)))


def test_a_forced_export_says_so_in_every_place_a_reader_looks(store: Store, tmp_path: Path) -> None:
    manifest = written(store, "verl", tmp_path / "x", trainer=Trainer("std"), force=True)
    assert "standard deviation" in manifest["warning"]
    assert "standard deviation" in (tmp_path / "x" / "WARNING.txt").read_text()
    metadata = pq.read_schema(tmp_path / "x" / "train.parquet").metadata
    assert b"standard deviation" in metadata[b"rubrics.warning"]


def test_targets_without_advantages_take_no_statement_about_them(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="leave out --estimator"):
        written(store, "preferences", tmp_path / "x", trainer=Trainer("std"))


def test_what_exists_is_kept_unless_it_is_an_export_and_overwriting_is_asked_for(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "deep" / "x"
    written(store, "trl", place)
    with pytest.raises(UsageError, match="exists"):
        written(store, "trl", place)
    written(store, "verl", place, overwrite=True)
    assert not (place / "rewards.py").exists()
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("work of years")
    with pytest.raises(UsageError, match="is no export"):
        written(store, "trl", mine, overwrite=True)
    assert (mine / "thesis.txt").read_text() == "work of years"
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == ["x"]


def test_a_store_without_a_kept_group_exports_nothing(tmp_path: Path) -> None:
    empty = Store.create(tmp_path / "empty")
    with pytest.raises(UsageError, match="no kept group"):
        written(empty, "trl", tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_pairs_are_within_a_group_by_reward_and_never_of_a_tie(store: Store, tmp_path: Path) -> None:
    manifest = written(store, "preferences", tmp_path / "x")
    rows = rows_of(tmp_path / "x" / "train.parquet")
    pairs = {(row["chosen_id"], row["rejected_id"]) for row in rows}
    assert all(STARS[chosen] > STARS[rejected] for chosen, rejected in pairs)
    assert all(chosen.rsplit("-", 1)[0] == rejected.rsplit("-", 1)[0] for chosen, rejected in pairs)
    assert manifest["tied"] == 3
    assert len(pairs) == 10 + 6 + 1 - 3
    for row in rows:
        assert row["margin"] == pytest.approx(STARS[row["chosen_id"]] - STARS[row["rejected_id"]])
        assert row["chosen"] != row["rejected"]


def test_small_margins_and_crowded_groups_are_cut_and_counted(store: Store, tmp_path: Path) -> None:
    manifest = written(store, "preferences", tmp_path / "x", limits=Limits(min_margin=0.5, max_pairs=2))
    rows = rows_of(tmp_path / "x" / "train.parquet")
    assert all(row["margin"] >= 0.5 for row in rows)
    assert max(sum(row["group_id"] == group for row in rows) for group in REWARDS) == 2
    assert [row["margin"] for row in rows if row["group_id"] == "g-ranked"] == pytest.approx([1.2, 1.2])
    assert manifest["below_min_margin"] > 0
    assert manifest["over_max_pairs"] > 0


def test_reflection_records_name_turn_error_and_leave_a_slot(store: Store, tmp_path: Path) -> None:
    written(store, "reflection", tmp_path / "x")
    records = rows_of(tmp_path / "x" / "reflections.jsonl")
    transcripts = {row["rollout_id"]: row for row in rows_of(tmp_path / "x" / "transcripts.parquet")}
    malformed = [record for record in records if record["kind"] == "malformed_call"]
    assert [(r["rollout_id"], r["turn"], r["error"]) for r in malformed] == [("g-ranked-1", 3, "bad arguments")]
    assert {r["error"] for r in records if r["kind"] == "failed_command"} == {"no such file"}
    audited = [record for record in records if record["kind"].startswith("audit:")]
    assert [(r["rollout_id"], r["turn"], r["kind"], r["error"]) for r in audited] == [
        ("g-ranked-2", 2, "audit:upstream_fetch", "fetched the fix")
    ]
    for record in records:
        assert record["rewritten"] is None
        message = transcripts[record["rollout_id"]]["completion"][record["message"]]
        assert message["content"] == record["offending"]["content"]


def test_trl_rewards_are_found_by_id_and_by_completion_and_null_where_none_is_meant(
    store: Store, tmp_path: Path
) -> None:
    written(store, "trl", tmp_path / "x")
    reward = load(tmp_path / "x" / "rewards.py").rubrics_reward
    assert reward([""] * 3, [""] * 3, rollout_id=["g-capped-0", None, "unheard of"]) == [1.25, None, None]
    rows = {row["rollout_id"]: row for row in rows_of(tmp_path / "x" / "rollouts.parquet")}
    completion = rows["g-ranked-0"]["completion"]
    assert reward([""], [completion]) == [STARS["g-ranked-0"]]
    assert reward([""] * 2, ["answer 1", "an answer nobody gave"]) == [0.65, None]
    assert reward([""], ["answer 1"], group_id=["g-ranked"]) == [None]


def test_equal_completions_with_different_rewards_mean_nothing_without_an_id(store: Store, tmp_path: Path) -> None:
    written(store, "trl", tmp_path / "x")
    path = tmp_path / "x" / "lookup.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    same = [{**line, "completion_digest": "d"} for line in lines]
    path.write_text("".join(json.dumps(line) + "\n" for line in same))
    module = load(tmp_path / "x" / "rewards.py")
    module.completion_digest = lambda _: "d"
    assert module.rubrics_reward([""], ["answer 1"]) == [None]
    assert module.rubrics_reward([""], [""], rollout_id=["g-capped-1"]) == [0.65]


def test_verl_scores_are_found_and_a_missing_one_is_an_error_not_a_number(store: Store, tmp_path: Path) -> None:
    written(store, "verl", tmp_path / "x")
    module = load(tmp_path / "x" / "reward_function.py")
    extra = {"rollout_id": "g-capped-1", "group_id": "g-capped"}
    assert module.compute_score("rubrics", "whatever", None, extra) == 0.65
    assert module.compute_advantage_score("rubrics", "", None, extra)["score"] == 0.175
    assert module.compute_score("rubrics", "answer 0", None, {}) == 1.25
    with pytest.raises(KeyError, match="never a number"):
        module.compute_score("rubrics", "answer 0", None, {"rollout_id": "unheard of"})


def test_slime_and_prime_rl_modules_answer_by_rollout(store: Store, tmp_path: Path) -> None:
    written(store, "slime", tmp_path / "s")
    custom_rm = load(tmp_path / "s" / "reward_function.py").custom_rm
    one = SimpleNamespace(label="g-capped-1")
    assert asyncio.run(custom_rm(None, one)) == 0.65
    assert asyncio.run(custom_rm(None, [one, SimpleNamespace(label="g-capped-0")])) == [0.65, 1.25]
    with pytest.raises(KeyError, match="never a number"):
        asyncio.run(custom_rm(None, SimpleNamespace(label="unheard of")))
    written(store, "prime-rl", tmp_path / "p")
    advantage = load(tmp_path / "p" / "advantage.py").stored_advantage
    rollouts = rows_of(tmp_path / "p" / "rollouts.jsonl")[:4]
    inputs = SimpleNamespace(rollouts=rollouts, broadcast=lambda values: [[value] * 2 for value in values])
    wanted = [[row["info"]["advantage"]] * 2 for row in rollouts]
    assert advantage(inputs) == wanted


def test_carried_modules_are_one_file_each_and_need_nothing_of_this_package(store: Store, tmp_path: Path) -> None:
    for name in NAMES:
        written(store, name, tmp_path / name)
    modules = [path for name in NAMES for path in (tmp_path / name).glob("*.py")]
    assert len(modules) == 8
    for path in modules:
        text = path.read_text()
        compile(text, str(path), "exec")
        assert "import rubrics" not in text
        assert "from rubrics" not in text


def test_the_command_writes_names_and_refuses(store: Store, tmp_path: Path) -> None:
    base = ["export", "--store", str(store.paths.root), "--output", str(tmp_path / "x")]
    done = CliRunner().invoke(cli, [*base, "--to", "verl", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)[0]["rows"] == KEPT
    forced = CliRunner().invoke(cli, [*base, "--to", "trl", "--estimator", "std", "--force", "--overwrite"])
    assert "warning: forced" in forced.output
    refused = CliRunner().invoke(cli, [*base, "--to", "trl", "--clip", "0", "1", "--overwrite"])
    assert isinstance(refused.exception, UsageError)
    assert tuple(TARGETS) == NAMES
