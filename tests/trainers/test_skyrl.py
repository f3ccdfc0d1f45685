"""SkyRL's dataset, environment and advantage function give the table's advantages from what is exported."""

from __future__ import annotations

import sys
import typing
from typing import Any

import pytest
from export_store import ADVANTAGES

pytest.importorskip("skyrl_gym", reason="no skyrl_gym here; `make trainers` installs it")
pytest.importorskip("skyrl", reason="no skyrl here; `make trainers` installs it")
torch = pytest.importorskip("torch", reason="no torch here; `make trainers` installs it")

if sys.version_info < (3, 12):
    import typing_extensions

    # skyrl 0.3.0 gives pydantic a typing.TypedDict, which pydantic accepts from Python 3.12 on.
    typing.TypedDict = typing_extensions.TypedDict  # type: ignore[assignment]

import numpy as np
import skyrl_gym
from skyrl.backends.skyrl_train.utils.ppo_utils import compute_advantages_and_returns
from skyrl.train.config import AlgorithmConfig
from skyrl.train.dataset.dataset import PromptDataset

STORED = {f"{group}-{number}": value for group, values in ADVANTAGES.items() for number, value in enumerate(values)}


@pytest.fixture(scope="module")
def folder(store: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One export for all: an environment's name can be taken only once."""
    from rubrics.exports.export import export
    from rubrics.exports.targets import target_named

    place = tmp_path_factory.mktemp("skyrl") / "export"
    export(store, target_named("skyrl"), place)
    sys.path.insert(0, str(place))
    __import__("rubrics_env")
    sys.path.remove(str(place))
    return place


def rolled_out(folder: Any, tokenizer: Any) -> tuple[list[str], list[str], list[float]]:
    """Rollout, instance and reward of each row: read by SkyRL's dataset, scored by its environment."""
    dataset = PromptDataset(str(folder / "train.parquet"), tokenizer, max_prompt_length=512, num_workers=1)
    names, instances, rewards = [], [], []
    for item in dataset.collate_fn([dataset[number] for number in range(len(dataset))]):
        extras = item["env_extras"]
        environment = skyrl_gym.make(item["env_class"], env_config={}, extras=extras)
        environment.init(item["prompt"])
        step = environment.step(extras["completion"][-1]["content"])
        assert step["done"]
        names.append(extras["reward_spec"]["ground_truth"])
        instances.append(extras["instance_id"])
        rewards.append(step["reward"])
    return names, instances, rewards


def advantages_of(rewards: list[float], instances: list[str], estimator: str, by_std: bool) -> list[float]:
    tokens = torch.zeros(len(rewards), 3)
    tokens[:, -1] = torch.tensor(rewards)
    advantages, _ = compute_advantages_and_returns(
        tokens, torch.ones_like(tokens), np.array(instances), estimator, AlgorithmConfig(), grpo_norm_by_std=by_std
    )
    return advantages[:, 0].tolist()


def test_dataset_environment_and_grpo_give_the_advantages_of_the_table(folder: Any, tokenizer: Any) -> None:
    names, instances, rewards = rolled_out(folder, tokenizer)
    done = advantages_of(rewards, instances, "grpo", by_std=False)
    assert dict(zip(names, done, strict=True)) == pytest.approx(STORED, abs=1e-6)


def test_std_normalisation_would_give_others(folder: Any, tokenizer: Any) -> None:
    names, instances, rewards = rolled_out(folder, tokenizer)
    done = dict(zip(names, advantages_of(rewards, instances, "grpo", by_std=True), strict=True))
    assert max(abs(done[name] - STORED[name]) for name in names) > 0.1


def test_a_completion_is_found_by_what_it_says(folder: Any) -> None:
    environment = skyrl_gym.make("rubrics", env_config={}, extras={"group_id": "g-capped"})
    assert environment.step("answer 1")["reward"] == 0.65
    with pytest.raises(KeyError, match="never a number"):
        environment.step("an answer nobody gave")
