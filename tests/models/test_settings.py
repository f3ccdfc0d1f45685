"""Settings are checked when they are made, and hold no secret."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rubrics.cli import launcher
from rubrics.cli.common import run_flow_with_progress
from rubrics.errors import UsageError
from rubrics.models.settings import ModelSettings
from rubrics.stages.options import Options
from rubrics.store.store import Store


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("model", " ", "name is empty"),
        ("base_url", "127.0.0.1:8000", "no address"),
        ("base_url", "http://user:pass@host/v1", "environment variable"),
        ("base_url", "http://host/v1?api-key=abc", "query"),
        ("api_key_env", "sk-12345", "never the key"),
        ("temperature", -0.1, "from 0 to 2"),
        ("temperature", float("nan"), "from 0 to 2"),
        ("temperature", True, "from 0 to 2"),
        ("top_p", 1.5, "from 0 to 1"),
        ("max_tokens", 0, "whole number"),
        ("timeout", 0, "timeout"),
        ("concurrency", 0, "whole number"),
        ("concurrency", 2.5, "whole number"),
        ("requests_per_minute", -1, "whole number"),
        ("attempts", 0, "whole number"),
        ("asks", 0, "whole number"),
        ("max_cost", -1.0, "max_cost"),
        ("max_cost", float("inf"), "max_cost"),
        ("price", (1.0, 2.0), "2 numbers"),
        ("price", (1.0, -2.0, 0.0), "price"),
        ("extra", (("model", "other"),), "setting of its own"),
        ("extra", (("x", object()),), "no JSON value"),
    ],
)
def test_what_cannot_be_meant_is_refused(field: str, value: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ModelSettings(**{"model": "m", field: value})


def test_a_refusal_never_repeats_what_may_be_a_key() -> None:
    for wrong in ({"api_key_env": "sk-secret-123"}, {"base_url": "http://me:sk-secret-123@host/v1"}):
        with pytest.raises(UsageError) as error:
            ModelSettings("m", **wrong)
        assert "sk-secret-123" not in str(error.value)


def test_an_address_with_a_password_was_refused_only_after_the_flow_had_recorded_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    monkeypatch.setattr(launcher, "run_flow", lambda name, options: started.append(options))
    Store.create(tmp_path)
    options = Options(str(tmp_path), model="m", base_url="http://me:sk-secret-123@host/v1")
    with pytest.raises(UsageError, match="base_url"):
        run_flow_with_progress("score_rollouts", options, quiet=True)
    assert started == []


def test_sampling_is_what_is_sent_and_nothing_else() -> None:
    assert ModelSettings("m").sampling() == {"temperature": 0.0}
    chosen = ModelSettings("m", temperature=None, top_p=0.9, max_tokens=100, seed=3, extra=(("top_k", 5),))
    assert chosen.sampling() == {"top_p": 0.9, "max_tokens": 100, "seed": 3, "top_k": 5}


def test_the_limit_of_an_answer_is_known_under_either_name() -> None:
    assert ModelSettings("m").most_tokens is None
    assert ModelSettings("m", max_tokens=7).most_tokens == 7
    assert ModelSettings("m", extra=(("max_completion_tokens", 9),)).most_tokens == 9


def test_loopback_is_this_machine_only() -> None:
    here = ("http://127.0.0.1:1/v1", "http://localhost:1/v1", "http://[::1]:1/v1")
    assert all(ModelSettings("m", url).loopback for url in here)
    there = (
        "http://127.0.0.1.example.com/v1",
        "https://api.openai.com/v1",
        "http://10.0.0.1/v1",
        "http://127.example/v1",
    )
    assert not any(ModelSettings("m", url).loopback for url in there)
    assert not ModelSettings("m").loopback
