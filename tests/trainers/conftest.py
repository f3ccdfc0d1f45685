"""What the tests against trainers share: no network, a store exported, a tokenizer and a model made here."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

for _name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE", "TRL_EXPERIMENTAL_SILENCE"):
    os.environ[_name] = "1"
_CACHE = tempfile.TemporaryDirectory()
os.environ["HF_HOME"] = _CACHE.name

from export_store import make_store

from rubrics.exports.export import export
from rubrics.exports.targets import target_named
from rubrics.store.store import Store

TEMPLATE = (
    "{%- for message in messages -%}{{ '<|im_start|>' + message.role + '\\n' }}{{ message.content or '' }}"
    "{%- for call in message.tool_calls or [] -%}<call>{{ call.function.name }} {{ call.function.arguments | tojson }}"
    "{%- endfor -%}{{ '<|im_end|>\\n' }}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}"
)


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return make_store(tmp_path_factory.mktemp("store") / "s")


@pytest.fixture
def exported(store: Store, tmp_path: Path) -> Any:
    """Exports to a target; gives the folder."""

    def write(name: str) -> Path:
        export(store, target_named(name), tmp_path / name)
        return tmp_path / name

    return write


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    """One token a byte, and four special ones."""
    pytest.importorskip("transformers", reason="no transformers here; `make trainers` installs it")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    special = ["<pad>", "<eos>", "<|im_start|>", "<|im_end|>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    raw = Tokenizer(models.BPE({text: number for number, text in enumerate(special + letters)}, []))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    raw.add_special_tokens(special)
    made = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", eos_token="<|im_end|>")
    made.chat_template = TEMPLATE
    return made
