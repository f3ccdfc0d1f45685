"""OpenRLHF's own prompt reading and reward calls take what is exported."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from export_store import REWARDS

pytest.importorskip("openrlhf", reason="no openrlhf here; `make trainers` installs it")
agent = pytest.importorskip("openrlhf.utils.agent", reason="openrlhf does not import here", exc_type=ImportError)
dataset = pytest.importorskip("openrlhf.datasets.prompts_dataset", exc_type=ImportError)

STARS = {f"{group}-{number}": value for group, values in REWARDS.items() for number, value in enumerate(values)}


def test_prompts_and_labels_are_read_and_rewards_found_by_label(exported: Any, tokenizer: Any) -> None:
    folder = exported("openrlhf")
    rows = [json.loads(line) for line in (folder / "train.jsonl").read_text().splitlines()]
    data = SimpleNamespace(input_key="input", label_key="label", apply_chat_template=True)
    strategy = SimpleNamespace(args=SimpleNamespace(data=data), is_rank_0=lambda: False)
    prompts = dataset.PromptDataset(rows, tokenizer, strategy)
    sources, texts, labels, _ = prompts.collate_fn([prompts[number] for number in range(len(prompts))])
    assert set(sources) == {"rubrics"}
    assert all(text.endswith("<|im_start|>assistant\n") for text in texts)
    executor = agent.SingleTurnAgentExecutor(str(folder / "reward_function.py"))
    answers = asyncio.run(executor._fetch_rewards_via_func(texts, texts, labels))
    found = {label: answer["rewards"].item() for label, answer in zip(labels, answers, strict=True)}
    assert found == pytest.approx(STARS, abs=1e-6)
