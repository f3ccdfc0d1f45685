"""Hands stored rollouts to TRL's GRPOTrainer instead of sampling: `rollout_func=Replay()`."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any


class Replay:
    """A `rollout_func`. Each prompt gets the rollouts of its group; a group with fewer than `num_generations` is
    filled up with rows that have no reward and no trainable token.

    Tokens of the model have mask 1 in `env_mask`, those of tools and users 0. `max_completion_tokens` cuts long
    completions; their reward stays. Needs `scale_rewards="none"` and `num_generations` of at least the largest group.
    """

    __name__ = "rubrics_replay"

    def __init__(self, max_completion_tokens: int | None = None, folder: str | Path | None = None) -> None:
        from datasets import load_dataset

        place = Path(folder) if folder else Path(__file__).parent
        self._limit = max_completion_tokens
        self._rollouts = load_dataset("parquet", data_files=str(place / "rollouts.parquet"), split="train")
        self._prompts = load_dataset("parquet", data_files=str(place / "prompts.parquet"), split="train")
        self._members: dict[str, list[int]] = {}
        for number, group in enumerate(self._rollouts["group_id"]):
            self._members.setdefault(group, []).append(number)
        self._groups: dict[str, list[str]] = {}
        for row in self._prompts:
            self._groups.setdefault(_key(row["prompt"]), []).append(row["group_id"])
        self._visits: dict[str, int] = {}

    def __call__(self, prompts: list[Any], trainer: Any) -> dict[str, list[Any]]:
        if str(trainer.args.scale_rewards) != "none":
            raise ValueError(f"scale_rewards={trainer.args.scale_rewards!r} changes the advantages; set 'none'")
        size = trainer.num_generations if trainer.model.training else trainer.num_generations_eval
        start = trainer.accelerator.process_index * len(prompts)
        single = trainer.accelerator.num_processes == 1
        out: dict[str, list[Any]] = {
            name: [] for name in ("prompt_ids", "completion_ids", "env_mask", "rollout_id", "group_id")
        }
        for number, prompt in enumerate(prompts):
            place = (start + number) % size
            group = self._group(prompt, place == 0, single)
            if len(self._members[group]) > size:
                raise ValueError(f"group {group}: {len(self._members[group])} rollouts, num_generations is {size}")
            self._add(out, group, place, prompt, trainer.processing_class)
        return {**out, "logprobs": None}  # type: ignore[dict-item]

    def _group(self, prompt: Any, first: bool, single: bool) -> str:
        """Groups with one and the same prompt take turns."""
        key = _key(prompt)
        groups = self._groups.get(key)
        if groups is None:
            raise ValueError("a prompt that prompts.parquet does not hold; train on this export's `prompts`")
        if len(groups) > 1 and not single:
            raise ValueError(f"groups {groups[:3]} have the same prompt: use one process, or one policy step at a time")
        if first:
            self._visits[key] = self._visits.get(key, 0) + 1
        return groups[(self._visits.get(key, 1) - 1) % len(groups)]

    def _add(self, out: dict[str, list[Any]], group: str, place: int, prompt: Any, tokenizer: Any) -> None:
        members = self._members[group]
        if place < len(members):
            row = self._rollouts[members[place]]
            before, ids, mask = tokenise(tokenizer, row["prompt"], row["completion"])
            name = row["rollout_id"]
        else:
            before, name = _tokens(tokenizer, _template(tokenizer, prompt, True)), None
            ids, mask = [tokenizer.eos_token_id], [0]
        out["prompt_ids"].append(before)
        out["completion_ids"].append(ids[: self._limit])
        out["env_mask"].append(mask[: self._limit])
        out["rollout_id"].append(name)
        out["group_id"].append(group)


def tokenise(tokenizer: Any, prompt: list[Any], completion: list[Any]) -> tuple[list[int], list[int], list[int]]:
    """Tokens of the prompt, of the completion, and the mask of the model's own tokens in the completion.

    Raises `ValueError` when the chat template rewrites what came before (for instance drops earlier reasoning).
    """
    messages = [*map(_clean, prompt)]
    done = _template(tokenizer, messages, True)
    before, ids, mask = _tokens(tokenizer, done), [], []
    for number, message in enumerate(completion):
        messages.append(_clean(message))
        answers = number + 1 < len(completion) and completion[number + 1]["role"] == "assistant"
        whole = _template(tokenizer, messages, answers)
        if not whole.startswith(done):
            raise ValueError(
                f"message {number}: the chat template rewrites earlier messages; use one that only appends"
            )
        new = _tokens(tokenizer, whole[len(done) :])
        mask += _own(new, message["role"] == "assistant", tokenizer.eos_token_id)
        ids += new
        done = whole
    return before, ids or [tokenizer.eos_token_id], mask or [0]


def _own(ids: list[int], assistant: bool, end: int | None) -> list[int]:
    """1 for what the model said: an assistant message up to its last end token, where it has one."""
    if not assistant:
        return [0] * len(ids)
    said = len(ids) - ids[::-1].index(end) if end in ids else len(ids)
    return [1] * said + [0] * (len(ids) - said)


def _template(tokenizer: Any, messages: list[Any], answers: bool) -> str:
    return str(tokenizer.apply_chat_template(messages, add_generation_prompt=answers, tokenize=False))


def _tokens(tokenizer: Any, text: str) -> list[int]:
    """Message by message, as in generation: nothing is merged across the border of two messages."""
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _clean(message: Any) -> dict[str, Any]:
    """A message without the nulls that Parquet fills in, its arguments as objects: the form that templates expect."""
    kept = {name: value for name, value in message.items() if value is not None}
    if kept.get("tool_calls"):
        kept["tool_calls"] = [_with_arguments(call) for call in kept["tool_calls"]]
    return kept


def _with_arguments(call: Any) -> dict[str, Any]:
    arguments = call["function"]["arguments"]
    with suppress(ValueError):  # a malformed call stays as it was written
        arguments = json.loads(arguments)
    return {**call, "function": {**call["function"], "arguments": arguments}}


def _key(prompt: Any) -> str:
    return json.dumps([[message["role"], message["content"]] for message in prompt])
