"""The client over real HTTP: what it sends, what it keeps, what it counts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from model_server.server import ModelServer, Said, serving

from rubrics.errors import ModelError, UnusableReply
from rubrics.models.client import Client, open_client
from rubrics.models.settings import ModelSettings
from rubrics.records.models import Reply, Request, Tool

GOOD = {"verdict": "met"}
QUESTION = Request(({"role": "system", "content": "judge"}, {"role": "user", "content": "this"}))


def read(reply: Reply) -> dict[str, Any]:
    """A strict reader in small."""
    try:
        value = json.loads(reply.text)
    except ValueError:
        raise UnusableReply("not_json", reply.text[:40]) from None
    if value != GOOD:
        raise UnusableReply("shape", str(value))
    return value


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(lambda body: GOOD) as running:
        yield running


def settings(server: ModelServer, **more: Any) -> ModelSettings:
    return ModelSettings(**{"model": "judge-1", "base_url": server.url, **more})


def ask(client: Client, question: Request = QUESTION) -> Any:
    return client.run(client.ask(question, read))


def test_an_answer_is_read_counted_and_kept(server: ModelServer, tmp_path: Path, stream: bool) -> None:
    with open_client(settings(server, stream=stream), tmp_path / "cache.db") as client:
        first, second = ask(client), ask(client)
        assert (first.value, first.calls, first.reply.from_cache) == (GOOD, 1, False)
        assert (second.value, second.calls, second.reply.from_cache) == (GOOD, 0, True)
        assert second.reply.usage == first.reply.usage
        assert (client.counters.requests, client.counters.from_cache, client.counters.cost) == (1, 1, None)
    with open_client(settings(server, stream=stream), tmp_path / "cache.db") as client:
        assert ask(client).calls == 0
    assert len(server.requests) == 1


def test_streamed_and_whole_answers_are_equal() -> None:
    said = Said(
        "a" * 120 + "\u4e2d\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
        (("look", {"path": "x"}), ("list", "{}")),
    )
    with serving(lambda body: said) as server:
        replies = []
        for stream in (False, True):
            with open_client(settings(server, stream=stream)) as client:
                replies.append(client.run(client.turn(QUESTION)))
    whole, streamed = ((r.text, r.calls, r.finish, r.model, r.usage, r.cost, r.from_cache) for r in replies)
    assert whole == streamed
    assert whole[1][0].arguments == '{"path": "x"}'


def test_the_schema_tools_and_sampling_are_sent_as_they_are(server: ModelServer) -> None:
    schema = {"type": "object", "properties": {"reason": {}, "level": {}}, "additionalProperties": False}
    question = Request(QUESTION.messages, (Tool("look", "Look.", {"type": "object"}),), schema, "verdicts")
    with open_client(settings(server, temperature=0.5, seed=7, extra=(("top_k", 3),))) as client:
        ask(client, question)
    (body,) = server.requests
    assert body["response_format"]["json_schema"] == {"name": "verdicts", "schema": schema, "strict": True}
    assert list(body["response_format"]["json_schema"]["schema"]["properties"]) == ["reason", "level"]
    assert body["tools"][0]["function"]["name"] == "look"
    assert (body["temperature"], body["seed"], body["top_k"], body["model"]) == (0.5, 7, 3, "judge-1")
    assert "max_tokens" not in body


def test_it_may_be_awaited_from_another_event_loop(server: ModelServer) -> None:
    with open_client(settings(server)) as client:
        assert asyncio.run(client.ask(QUESTION, read)).value == GOOD
        assert asyncio.run(client.turn(QUESTION)).text == json.dumps(GOOD)


def test_finished_work_is_remembered_under_its_key(server: ModelServer, tmp_path: Path) -> None:
    with open_client(settings(server), tmp_path / "cache.db") as client:
        key = client.key(QUESTION, "sha256:image")
        assert client.run(client.recall(key)) is None
        client.run(client.remember(key, "verdicts \ud800"))
        assert client.run(client.recall(key)) == "verdicts \ud800"
    with open_client(settings(server), tmp_path / "cache.db") as client:
        assert client.run(client.recall(key)) == "verdicts \ud800"
        assert client.run(client.recall(client.key(QUESTION))) is None
    assert server.requests == []


def test_an_unusable_reply_is_asked_again_a_bounded_number_of_times_and_never_kept(
    tmp_path: Path, stream: bool
) -> None:
    replies = iter(["no json", GOOD, "no json", "no json", GOOD])
    with (
        serving(lambda body: next(replies)) as server,
        open_client(settings(server, stream=stream), tmp_path / "cache.db") as client,
    ):
        assert ask(client).calls == 2
        other = Request(QUESTION.messages, repeat=1)
        with pytest.raises(ModelError) as error:
            ask(client, other)
        assert error.value.kind == "not_json"
        assert ask(client, other).calls == 1
        assert dict(client.counters.unusable) == {"not_json": 3}
        assert dict(client.counters.failed) == {"not_json": 1}
