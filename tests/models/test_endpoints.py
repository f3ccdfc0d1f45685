"""Either library: imported late, silent, without a network of its own, and its errors told apart without the key."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from model_server.clock import StepClock
from model_server.faults import FINAL, PROTOCOL, TRANSPORT, error, in_turn
from model_server.server import ModelServer, Raw, Said, serving

from rubrics.errors import ModelError, UsageError
from rubrics.models.client import open_client
from rubrics.models.endpoint import find_price
from rubrics.models.prices import Price, per_million
from rubrics.models.settings import ModelSettings
from rubrics.records.models import Request

KEY = "sk-very-secret-key-0123456789"
QUESTION = Request(({"role": "user", "content": "q"},))
FORBIDDEN = """
import socket, sys
def refuse(*args, **kwargs):
    raise SystemExit(f"network: {args}")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = socket.create_connection = refuse
"""


def run(code: str, folder: Path) -> str:
    command = [sys.executable, "-c", FORBIDDEN + code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stderr == ""
    return done.stdout


def test_the_client_imports_neither_library(tmp_path: Path) -> None:
    code = """
from rubrics.models.client import open_client
from rubrics.models.settings import ModelSettings
with open_client(ModelSettings("m", "http://127.0.0.1:1/v1")) as client:
    assert client.name == "m"
print(sorted({"litellm", "openai", "aiohttp", "httpx2", "pydantic"} & set(sys.modules)))
"""
    assert run(code, tmp_path) == "[]\n"


def test_importing_the_libraries_touches_no_network_reads_no_env_file_and_says_nothing(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FROM_ENV_FILE=1\n")
    code = """
import os
from rubrics.models.endpoint import find_price
from rubrics.models.settings import ModelSettings
price = find_price(ModelSettings("gpt-4o"))
assert price.input > price.cached > 0 and price.output > price.input
import litellm
assert not (litellm.callbacks or litellm.success_callback or litellm.failure_callback or litellm.telemetry)
assert "FROM_ENV_FILE" not in os.environ
"""
    assert run(code, tmp_path) == ""


def test_prices_come_from_the_setting_then_the_map_and_are_unknown_elsewhere() -> None:
    own = (1.0, 2.0, 0.1)
    assert find_price(ModelSettings("m", "http://127.0.0.1:1/v1", price=own)) == per_million(own)
    assert find_price(ModelSettings("gpt-4o", "http://127.0.0.1:1/v1")) is None
    assert find_price(ModelSettings("gpt-4o", "https://models.example.com/v1")) is None
    assert find_price(ModelSettings("no-such-model-at-all")) is None
    assert find_price(ModelSettings("hosted_vllm/mine")) is None
    hosted = find_price(ModelSettings("gpt-4o"))
    assert isinstance(hosted, Price)
    assert find_price(ModelSettings("gpt-4o", "https://api.openai.com/v1")) == hosted
    assert find_price(ModelSettings("openai/gpt-4o")) == hosted
    assert find_price(ModelSettings("anthropic/claude-sonnet-4-5")) not in (None, hosted)


def test_a_budget_without_a_price_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    settings = ModelSettings("m", "http://127.0.0.1:1/v1", max_cost=1.0)
    with pytest.raises(UsageError, match=r"no price is known for 'm'.*give its price"), open_client(settings):
        pass


def test_without_a_key_only_this_machine_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"), open_client(ModelSettings("m", "https://example.com/v1")):
        pass
    named = ModelSettings("m", "http://127.0.0.1:1/v1", api_key_env="MY_KEY")
    with pytest.raises(UsageError, match="MY_KEY"), open_client(named):
        pass
    with serving(lambda body: "yes") as server, open_client(ModelSettings("m", server.url)) as client:
        client.run(client.turn(QUESTION))
        assert server.headers[0]["Authorization"] == "Bearer none"


@pytest.mark.parametrize("status", [400, 401, 500])
def test_the_key_is_sent_and_never_told(status: int, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    caplog.set_level("DEBUG")
    echo = error(status, f"Incorrect API key provided: {KEY}; header Authorization: Bearer {KEY}")
    with serving(lambda body: echo) as server:
        settings = ModelSettings("m", server.url, api_key_env="MY_KEY")
        with open_client(settings, None, StepClock()) as client:
            with pytest.raises(ModelError) as failed:
                client.run(client.turn(QUESTION))
            assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
            seen = [str(failed.value), repr(failed.value), repr(settings), repr(client), caplog.text]
            assert "[key]" in str(failed.value)
            assert not any(KEY in text for text in seen)
            assert failed.value.__cause__ is None


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("form", ["error", "prose"])
def test_a_proxy_that_echoes_the_key_under_status_200_does_not_make_it_told(
    form: str, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    said = f"no such key: {KEY}"
    echo = error(200, said) if form == "error" else Raw(200, said.encode())
    with serving(lambda body: echo) as server:
        settings = ModelSettings("m", server.url, api_key_env="MY_KEY", stream=stream)
        with open_client(settings, None, StepClock()) as client, pytest.raises(ModelError) as failed:
            client.run(client.turn(QUESTION))
    assert "no such key: [key]" in str(failed.value)
    assert KEY[:12] not in str(failed.value)


def test_a_proxy_of_the_environment_is_not_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving(lambda body: "yes") as server, open_client(ModelSettings("m", server.url)) as client:
        assert client.run(client.turn(QUESTION)).text == "yes"


def test_nothing_listens_is_a_connection_error_with_the_address() -> None:
    with open_client(ModelSettings("m", "http://127.0.0.1:9/v1", attempts=2), None, StepClock()) as client:
        with pytest.raises(ModelError, match=r"127\.0\.0\.1:9.*2 tries") as failed:
            client.run(client.turn(QUESTION))
        assert failed.value.kind == "connection"


def test_closing_leaves_no_thread_no_task_and_no_connection(recwarn: pytest.WarningsRecorder) -> None:
    gc.collect()
    recwarn.clear()  # of what earlier tests left
    before = set(threading.enumerate())
    with serving(lambda body: "yes") as server:
        during = set(threading.enumerate())
        for _ in range(3):
            with open_client(ModelSettings("m", server.url)) as client:
                client.run(client.turn(QUESTION))
        assert set(threading.enumerate()) <= during
    gc.collect()
    assert set(threading.enumerate()) <= before
    assert [str(one.message) for one in recwarn if issubclass(one.category, ResourceWarning | RuntimeWarning)] == []


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A server that litellm finds as a provider of its own."""
    with serving(lambda body: "yes") as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        monkeypatch.setenv("HOSTED_VLLM_API_KEY", KEY)
        yield server


def test_a_provider_that_litellm_resolves_gives_the_same_reply(hosted: ModelServer) -> None:
    hosted.script = lambda body: Said("hi", (("look", {"path": "a"}),), model="judge-1-2026-01-01")
    replies = []
    for model, url in (("hosted_vllm/judge-1", None), ("judge-1", hosted.url)):
        with open_client(ModelSettings(model, url, stream=url is None)) as client:
            replies.append(client.run(client.turn(QUESTION)))
    first, second = ((r.text, r.calls, r.finish, r.model, r.usage, r.cost) for r in replies)
    assert first == second
    assert hosted.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert hosted.requests[0]["model"] == "judge-1"
    assert "stream" not in hosted.requests[0]


@pytest.mark.parametrize("name", [*TRANSPORT, *FINAL, *PROTOCOL])
def test_faults_of_a_provider_have_the_same_classes_and_are_retried_here_alone(name: str, hosted: ModelServer) -> None:
    spoiler, kind = {**TRANSPORT, **FINAL, **PROTOCOL}[name]
    hosted.script = in_turn(lambda body: {"a": 1}, [spoiler] * 9)
    clock = StepClock()
    settings = ModelSettings("hosted_vllm/judge-1", timeout=1.0 if name == "hang" else 30.0, attempts=3)
    with open_client(settings, None, clock) as client, pytest.raises(ModelError) as failed:
        client.run(client.turn(QUESTION))
    assert failed.value.kind == kind
    assert len(hosted.requests) == (3 if name in TRANSPORT else 1 if name in FINAL else 2)
    assert KEY not in str(failed.value)
    if name.startswith("rate limit with"):
        assert min(clock.slept) > 6.0
