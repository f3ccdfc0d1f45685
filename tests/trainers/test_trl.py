"""TRL loads what is exported, and the advantages inside its trainers are the table's."""

from __future__ import annotations

import math
import runpy
from pathlib import Path
from typing import Any

import pytest
from export_store import ADVANTAGES, REWARDS

pytest.importorskip("trl", reason="no trl here; `make trainers` installs it")
torch = pytest.importorskip("torch", reason="no torch here; `make trainers` installs it")

from datasets import load_dataset
from transformers import Qwen2Config, Qwen2ForCausalLM
from trl import DPOConfig, DPOTrainer, GRPOConfig, GRPOTrainer

STORED = {f"{group}-{number}": value for group, values in ADVANTAGES.items() for number, value in enumerate(values)}
GROUPS = len(REWARDS)
LARGEST = max(map(len, REWARDS.values()))


class Watched(GRPOTrainer):  # type: ignore[misc]
    """Keeps what the trainer computed for each rollout, and what its loss was given."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.computed: list[tuple[str | None, float]] = []
        self.used: list[float] = []
        self.trained_tokens = 0

    def _generate_and_score_completions(self, inputs: Any) -> Any:
        output = super()._generate_and_score_completions(inputs)
        names = [item.get("rollout_id") for item in inputs]
        self.computed += zip(names, output["advantages"].tolist(), strict=True)
        return output

    def _compute_loss(self, model: Any, inputs: Any) -> Any:
        self.used += inputs["advantages"].tolist()
        self.trained_tokens += int((inputs["completion_mask"] * inputs.get("tool_mask", 1)).sum())
        return super()._compute_loss(model, inputs)


def tiny_model(tokenizer: Any) -> Any:
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    return Qwen2ForCausalLM(config)


def trainer_for(folder: Path, tokenizer: Any, tmp_path: Path, replay: bool, **settings: Any) -> Watched:
    given = {"scale_rewards": "none", "loss_type": "dr_grpo", "learning_rate": 1e-3, "max_completion_length": 8}
    arguments = GRPOConfig(
        output_dir=str(tmp_path / "run"), per_device_train_batch_size=GROUPS * LARGEST, num_generations=LARGEST,
        max_steps=1, use_cpu=True, report_to=[], save_strategy="no", **{**given, **settings},
    )  # fmt: skip
    return Watched(
        model=tiny_model(tokenizer),
        reward_funcs=[runpy.run_path(str(folder / "rewards.py"))["rubrics_reward"]],
        args=arguments,
        train_dataset=load_dataset(str(folder), "prompts", split="train"),
        processing_class=tokenizer,
        rollout_func=runpy.run_path(str(folder / "replay.py"))["Replay"]() if replay else None,
    )


def test_one_step_of_grpo_uses_the_advantages_of_the_table(exported: Any, tokenizer: Any, tmp_path: Path) -> None:
    trainer = trainer_for(exported("trl"), tokenizer, tmp_path, replay=True)
    before = [weight.detach().clone() for weight in trainer.model.parameters()]
    result = trainer.train()
    computed = {name: value for name, value in trainer.computed if name is not None}
    assert computed == pytest.approx(STORED, abs=1e-6)
    assert len(computed) == len(STORED)
    filled = [value for name, value in trainer.computed if name is None]
    assert filled == [0.0] * (GROUPS * LARGEST - len(STORED))
    assert sorted(trainer.used) == pytest.approx(sorted([*STORED.values(), *filled]), abs=1e-6)
    assert trainer.state.global_step == 1
    assert math.isfinite(result.training_loss)
    assert any(not torch.equal(old, new) for old, new in zip(before, trainer.model.parameters(), strict=True))


def test_only_tokens_that_the_policy_said_are_trained(exported: Any, tokenizer: Any, tmp_path: Path) -> None:
    folder = exported("trl")
    trainer = trainer_for(folder, tokenizer, tmp_path, replay=True)
    trainer.train()
    tokenise = runpy.run_path(str(folder / "replay.py"))["tokenise"]
    rows = load_dataset(str(folder), "rollouts", split="train")
    split = [tokenise(tokenizer, row["prompt"], row["completion"]) for row in rows]
    assert trainer.trained_tokens == sum(sum(mask) for _, _, mask in split)
    for row, (before, ids, mask) in zip(rows, split, strict=True):
        said = tokenizer.decode([token for token, own in zip(ids, mask, strict=True) if own])
        assert "no such file" not in said
        assert all((message["content"] in said) == (message["role"] == "assistant") for message in row["completion"])
        whole = tokenizer.decode([*before, *ids])
        assert [part.split("\n")[0] for part in whole.split("<|im_start|>")[1:]] == [
            message["role"] for message in [*row["prompt"], *row["completion"]]
        ]


def test_completions_that_nobody_stored_have_no_reward_and_no_advantage(
    exported: Any, tokenizer: Any, tmp_path: Path
) -> None:
    trainer = trainer_for(exported("trl"), tokenizer, tmp_path, replay=False)
    trainer.train()
    assert trainer.used == [0.0] * (GROUPS * LARGEST)
    assert all(math.isnan(value) for value in trainer._logs["rewards"]["rubrics_reward"])


def test_replay_refuses_a_trainer_that_scales_rewards(exported: Any, tokenizer: Any, tmp_path: Path) -> None:
    trainer = trainer_for(exported("trl"), tokenizer, tmp_path, replay=True, scale_rewards="group")
    with pytest.raises(ValueError, match="scale_rewards='group' changes the advantages"):
        trainer.train()


def test_scaled_rewards_would_indeed_give_other_advantages(exported: Any, tokenizer: Any, tmp_path: Path) -> None:
    trainer = trainer_for(exported("trl"), tokenizer, tmp_path, replay=True)
    trainer.scale_rewards = "group"
    trainer.train()
    computed = {name: value for name, value in trainer.computed if name is not None}
    assert max(abs(computed[name] - STORED[name]) for name in STORED) > 0.1


def test_preference_pairs_go_through_a_step_of_dpo(exported: Any, tokenizer: Any, tmp_path: Path) -> None:
    pairs = load_dataset("parquet", data_files=str(exported("preferences") / "train.parquet"), split="train")
    arguments = DPOConfig(
        output_dir=str(tmp_path / "run"), per_device_train_batch_size=4, max_steps=1, use_cpu=True, report_to=[],
        save_strategy="no",
    )  # fmt: skip
    model, reference = tiny_model(tokenizer), tiny_model(tokenizer)
    trainer = DPOTrainer(model, reference, arguments, train_dataset=pairs, processing_class=tokenizer)
    assert math.isfinite(trainer.train().training_loss)
    assert len(pairs) == 14


def test_plain_parquet_loads_with_datasets(exported: Any, store: Any) -> None:
    rows = load_dataset(str(exported("parquet")), split="train")
    table = {row["rollout_id"]: row for row in store.rows("rewards")}
    assert set(rows["rollout_id"]) == set(STORED)
    assert all(row["reward_star"] == table[row["rollout_id"]]["reward_star"] for row in rows)
