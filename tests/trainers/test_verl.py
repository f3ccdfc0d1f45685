"""verl loads what is exported; its reward managers and advantage functions give the table's advantages."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_store import ADVANTAGES

pytest.importorskip("verl", reason="no verl here; `make trainers` installs it")
torch = pytest.importorskip("torch", reason="no torch here; `make trainers` installs it")

from omegaconf import OmegaConf
from verl import DataProto
from verl.trainer.ppo.core_algos import AdvantageEstimator, get_adv_estimator_fn
from verl.trainer.ppo.ray_trainer import compute_advantage
from verl.trainer.ppo.reward import get_custom_reward_fn, load_reward_manager
from verl.utils.dataset.rl_dataset import RLHFDataset
from verl.utils.dataset.rl_dataset import collate_fn as collate
from verl.utils.import_utils import import_external_libs
from verl.workers.reward_manager.naive import NaiveRewardManager

STORED = [value for group in sorted(ADVANTAGES) for value in ADVANTAGES[group]]
"""Advantages in the order of the export: by group, then by rollout."""


def config_for(folder: Path, name: str) -> Any:
    given = {"path": str(folder / "reward_function.py"), "name": name}
    manager = {"source": "register", "name": "naive"}
    return OmegaConf.create({"reward": {"custom_reward_function": given, "reward_manager": manager}})


def batch_of(folder: Path, tokenizer: Any) -> Any:
    """The rows as verl's own dataset gives them, with the stored completions as responses."""
    settings = OmegaConf.create({"max_prompt_length": 512, "filter_overlong_prompts": False, "cache_dir": str(folder)})
    dataset = RLHFDataset(str(folder / "train.parquet"), tokenizer, settings)
    rows = collate([dataset[number] for number in range(len(dataset))])
    responses = [tokenizer.encode(row[-1]["content"]) for row in rows["completion"]]
    width = max(map(len, responses))
    mask = torch.tensor([[1] * len(ids) + [0] * (width - len(ids)) for ids in responses])
    padded = torch.tensor([ids + [tokenizer.pad_token_id] * (width - len(ids)) for ids in responses])
    prompts = torch.full((len(responses), 4), 5)
    tensors = {"prompts": prompts, "responses": padded, "response_mask": mask}
    tensors["attention_mask"] = torch.cat([torch.ones_like(prompts), mask], dim=1)
    return DataProto.from_dict(tensors, non_tensors={key: np.array(rows[key], dtype=object) for key in _CARRIED})


_CARRIED = ("data_source", "reward_model", "extra_info", "uid")


def scored(folder: Path, tokenizer: Any, name: str) -> Any:
    data = batch_of(folder, tokenizer)
    manager = NaiveRewardManager(tokenizer, num_examine=0, compute_score=get_custom_reward_fn(config_for(folder, name)))
    data.batch["token_level_rewards"] = manager(data)
    return data


def per_rollout(data: Any) -> list[float]:
    """One advantage per rollout; every token of it must have the same, every padding 0."""
    values, mask = data.batch["advantages"], data.batch["response_mask"].bool()
    first = values[:, 0]
    assert torch.equal(values, first.unsqueeze(1) * mask)
    return first.tolist()


@pytest.mark.parametrize("estimator", [AdvantageEstimator.GRPO, AdvantageEstimator.GRPO_VECTORIZED])
def test_group_means_alone_give_the_advantages_of_the_table(exported: Any, tokenizer: Any, estimator: Any) -> None:
    data = scored(exported("verl"), tokenizer, "compute_score")
    algorithm = OmegaConf.create({"norm_adv_by_std_in_grpo": False})
    if estimator == AdvantageEstimator.GRPO:
        done = compute_advantage(data, estimator, norm_adv_by_std_in_grpo=False, config=algorithm)
        assert per_rollout(done) == pytest.approx(STORED, abs=1e-6)
    else:
        tensors = data.batch["token_level_rewards"], data.batch["response_mask"]
        advantages, _ = get_adv_estimator_fn(estimator)(
            *tensors, data.non_tensor_batch["uid"], norm_adv_by_std_in_grpo=False
        )
        assert advantages[:, 0].tolist() == pytest.approx(STORED, abs=1e-6)


def test_leave_one_out_keeps_the_ratios_of_every_group(exported: Any, tokenizer: Any) -> None:
    data = scored(exported("verl"), tokenizer, "compute_score")
    done = per_rollout(compute_advantage(data, AdvantageEstimator.RLOO, config=OmegaConf.create({})))
    sizes = [len(ADVANTAGES[group]) for group in sorted(ADVANTAGES) for _ in ADVANTAGES[group]]
    wanted = [value * size / (size - 1) for value, size in zip(STORED, sizes, strict=True)]
    assert done == pytest.approx(wanted, abs=1e-6)


def test_std_normalisation_would_give_others(exported: Any, tokenizer: Any) -> None:
    data = scored(exported("verl"), tokenizer, "compute_score")
    done = per_rollout(compute_advantage(data, AdvantageEstimator.GRPO, norm_adv_by_std_in_grpo=True))
    assert max(abs(one - other) for one, other in zip(done, STORED, strict=True)) > 0.1


def test_the_stored_advantages_are_handed_on_without_any_group(exported: Any, tokenizer: Any) -> None:
    folder = exported("verl")
    data = scored(folder, tokenizer, "compute_advantage_score")
    data.non_tensor_batch["uid"] = np.array([str(number) for number in range(len(data))], dtype=object)
    import_estimator(folder)
    done = compute_advantage(data, "rubrics_stored", config=OmegaConf.create({"use_kl_in_reward": False}))
    assert per_rollout(done) == pytest.approx(STORED, abs=1e-6)
    with pytest.raises(ValueError, match="use_kl_in_reward"):
        compute_advantage(data, "rubrics_stored", config=OmegaConf.create({"use_kl_in_reward": True}))


def import_estimator(folder: Path) -> None:
    """As verl imports it, once: an estimator's name can be taken only by one module."""
    if "rubrics_stored" in sys.modules:
        return
    sys.path.insert(0, str(folder))
    try:
        import_external_libs("rubrics_stored")
    finally:
        sys.path.remove(str(folder))


def test_the_estimator_is_there_when_verl_is_told_of_it(exported: Any) -> None:
    code = "from verl.trainer.ppo.core_algos import get_adv_estimator_fn as f; print(f('rubrics_stored').__name__)"
    told = {"PYTHONPATH": str(exported("verl")), "VERL_USE_EXTERNAL_MODULES": "rubrics_stored"}
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **told}, capture_output=True, text=True)
    assert done.stdout.strip().endswith("stored_advantage"), done.stderr[-500:]


def test_the_reward_loop_scores_every_rollout_alike(exported: Any, tokenizer: Any) -> None:
    folder = exported("verl")
    data = batch_of(folder, tokenizer)

    async def score_all() -> list[float]:
        manager = load_reward_manager(config_for(folder, "compute_score"), tokenizer)
        return [(await manager.run_single(data[place : place + 1]))["reward_score"] for place in range(len(data))]

    wanted = [extra["reward"] for extra in data.non_tensor_batch["extra_info"]]
    assert asyncio.run(score_all()) == wanted
