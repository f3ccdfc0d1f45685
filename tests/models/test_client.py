"""The client over real HTTP: what it sends, what it keeps, what it counts."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from model_server.clock import StepClock
from model_server.faults import error, in_turn
from model_server.server import Hang, ModelServer, Raw, Said, completion, serving

from rubrics.errors import ModelError, UnusableReply
from rubrics.models.client import Client, open_client
from rubrics.models.limits import ROW
from rubrics.models.settings import ModelSettings
from rubrics.records.models import Reply, Request, Tool, Usage

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


def test_equal_questions_under_way_are_sent_once(server: ModelServer) -> None:
    with open_client(settings(server)) as client:
        answers = client.run_all([lambda: client.ask(QUESTION, read)] * 20)
        assert [answer.value for answer in answers] == [GOOD] * 20
        assert sorted(answer.calls for answer in answers) == [0] * 19 + [1]
        assert sum(not answer.reply.from_cache for answer in answers) == 1
        assert (client.counters.requests, client.counters.from_cache) == (1, 19)
    assert len(server.requests) == 1


def test_equal_questions_under_way_share_a_failure_too(server: ModelServer) -> None:
    server.script = lambda body: error(400, "no")

    async def both(client: Client) -> list[Any]:
        return await asyncio.gather(*(client.ask(QUESTION, read) for _ in range(5)), return_exceptions=True)

    with open_client(settings(server)) as client:
        kinds = [failed.kind for failed in client.run(both(client))]
        assert (kinds, len(server.requests)) == (["bad_request"] * 5, 1)


def test_who_is_given_up_leaves_the_question_to_those_who_still_wait(server: ModelServer) -> None:
    replies = iter([Hang(), GOOD])
    server.script = lambda body: next(replies)

    async def go(client: Client) -> Any:
        first = asyncio.create_task(client.ask(QUESTION, read))
        second = asyncio.create_task(client.ask(QUESTION, read))
        while not server.requests:
            await asyncio.sleep(0)
        first.cancel()
        return await second

    with open_client(settings(server)) as client:
        assert client.run(go(client)).calls == 1
    assert len(server.requests) == 2


def test_a_stored_reply_that_its_reader_no_longer_accepts_is_asked_anew(server: ModelServer, tmp_path: Path) -> None:
    with open_client(settings(server), tmp_path / "cache.db") as client:
        server.script = lambda body: "no json"
        assert client.run(client.ask(QUESTION, lambda reply: reply.text)).value == "no json"
        server.script = lambda body: GOOD
        assert (ask(client).calls, ask(client).calls) == (1, 0)


def test_a_single_refusal_delays_its_own_request_alone(server: ModelServer) -> None:
    """One `Retry-After: 1` made all requests wait: 15 of them among 320 cost 13 s, where a peer took 2.6."""
    replies = iter(range(1, 1000))

    def script(body: dict[str, Any]) -> Any:
        return error(429, "slow", Retry_After="1") if next(replies) % 21 == 0 else GOOD

    server.script = script
    clock = StepClock()
    with open_client(settings(server), None, clock) as client:
        works = [lambda i=i: client.ask(Request(QUESTION.messages, repeat=i), read) for i in range(305)]
        assert sum(answer.calls for answer in client.run_all(works)) == 320
        assert (client.counters.retried, client.counters.requests) == (15, 320)
    assert len(clock.slept) == 15, "nobody else has waited"
    assert all(1.5 <= seconds <= 2.0 for seconds in clock.slept)


def test_all_wait_for_what_was_asked_when_refusals_come_in_a_row(server: ModelServer) -> None:
    clock = StepClock()
    with open_client(settings(server, concurrency=1), None, clock) as client:
        server.script = in_turn(lambda body: GOOD, [lambda good: error(429, "slow", Retry_After="7")] * ROW)
        asked = client.run_all([lambda i=i: client.ask(Request(QUESTION.messages, repeat=i), read) for i in range(20)])
        assert sum(answer.calls for answer in asked) == 20 + ROW
    own = [seconds for seconds in clock.slept if seconds > 7.0]
    assert len(own) == ROW, "each of the refused waits somewhat longer than it was told"
    assert len(own) < len(clock.slept), "a request that nobody refused has waited too"


def test_only_a_wait_that_is_worth_it_is_waited_for_by_all(server: ModelServer) -> None:
    clock = StepClock()
    server.script = in_turn(lambda body: GOOD, [lambda good: error(429, "slow", Retry_After="3600")] * ROW)
    with open_client(settings(server, concurrency=1), None, clock) as client:
        for repeat in range(ROW):
            with pytest.raises(ModelError, match="slow"):
                ask(client, Request(QUESTION.messages, repeat=repeat))
        assert ask(client).calls == 1
    assert clock.slept == []


def test_only_a_rate_limit_makes_fewer_requests_go_at_once(server: ModelServer) -> None:
    for status, width in ((500, 32.0), (408, 32.0), (429, 0.8 * 32 + 1 / (0.8 * 32))):
        server.script = in_turn(lambda body: GOOD, [lambda good, status=status: error(status, "x")])
        with open_client(settings(server), None, StepClock()) as client:
            assert ask(client).calls == 2
            assert client._sender.gate.width.value == pytest.approx(width)


def test_no_more_requests_are_under_way_than_asked_for(server: ModelServer) -> None:
    server.latency = 0.002
    with open_client(settings(server, concurrency=3)) as client:
        works = [lambda i=i: client.ask(Request(QUESTION.messages, repeat=i), read) for i in range(30)]
        assert len(client.run_all(works)) == 30
    assert server.most_under_way == 3


def test_an_endpoint_that_knows_no_schema_is_asked_for_json_then_for_text_and_remembered(stream: bool) -> None:
    def script(body: dict[str, Any]) -> Any:
        form = body.get("response_format")
        return GOOD if form is None else error(400, f"response_format of type {form['type']} is not supported")

    with serving(script) as server, open_client(settings(server, stream=stream)) as client:
        first = Request(QUESTION.messages, schema={"type": "object"})
        assert ask(client, first).calls == 3
        assert ask(client, Request(QUESTION.messages, schema={"type": "object"}, repeat=1)).calls == 1
        assert (client.counters.reformed, client.counters.retried) == (2, 0)
        forms = [(body.get("response_format") or {}).get("type") for body in server.requests]
        assert forms == ["json_schema", "json_object", None, None]


def test_an_endpoint_that_counts_no_tokens_in_a_stream_is_asked_without(server: ModelServer) -> None:
    def script(body: dict[str, Any]) -> Any:
        return error(400, "stream_options is not allowed") if "stream_options" in body else Said("x", usage=None)

    server.script = script
    with open_client(settings(server, stream=True, price=(1.0, 1.0, 1.0))) as client:
        replies = [client.run(client.turn(QUESTION)) for _ in range(2)]
    assert [(reply.usage, reply.cost) for reply in replies] == [(Usage(), None)] * 2
    assert len(server.requests) == 3


def test_a_server_that_does_not_stream_although_asked_is_understood(server: ModelServer) -> None:
    server.script = lambda body: Raw(
        200, json.dumps(completion(body, Said(json.dumps(GOOD)))).encode(), {"Content-Type": "application/json"}
    )
    with open_client(settings(server, stream=True)) as client:
        assert ask(client).value == GOOD


def test_the_version_that_answered_first_stays_the_judge_of_a_store(server: ModelServer, tmp_path: Path) -> None:
    says = Said(json.dumps(GOOD), model="judge-1-2026-01-01")
    server.script = lambda body: says
    with open_client(settings(server), tmp_path / "cache.db") as client:
        assert ask(client).reply.model == "judge-1-2026-01-01"
    says = Said(json.dumps(GOOD), model="judge-1-2026-06-01")
    with open_client(settings(server), tmp_path / "cache.db") as client:
        assert ask(client).calls == 0
        with pytest.raises(ModelError, match="two judges in one store") as failed:
            ask(client, Request(QUESTION.messages, repeat=1))
        assert failed.value.kind == "wrong_model"
    with open_client(settings(server, model="judge-1-2026-06-01"), tmp_path / "cache.db") as client:
        assert ask(client, Request(QUESTION.messages, repeat=1)).calls == 1


def test_another_name_may_answer_when_the_settings_list_it(server: ModelServer) -> None:
    server.script = lambda body: Said(json.dumps(GOOD), model="/models/weights.gguf")
    with open_client(settings(server, answers_as=("/models/weights.gguf",))) as client:
        assert ask(client).value == GOOD


def test_a_stored_reply_of_a_model_that_may_not_answer_any_more_was_still_used(
    server: ModelServer, tmp_path: Path
) -> None:
    server.script = lambda body: Said(json.dumps(GOOD), model="somebody-else")
    with open_client(settings(server, answers_as=("somebody-else",)), tmp_path / "cache.db") as client:
        ask(client)
    with open_client(settings(server), tmp_path / "cache.db") as client, pytest.raises(ModelError) as failed:
        ask(client)
    assert failed.value.kind == "wrong_model"


def test_running_from_the_clients_own_loop_is_refused_instead_of_waiting_for_ever(server: ModelServer) -> None:
    async def inside(client: Client) -> None:
        client.run(client.turn(QUESTION))

    with open_client(settings(server)) as client, pytest.raises(RuntimeError, match="own loop"):
        client.run(inside(client))


def test_the_first_error_of_many_ends_all(server: ModelServer) -> None:
    server.script = lambda body: error(400, "no")
    with open_client(settings(server)) as client, pytest.raises(ModelError, match="400"):
        client.run_all([lambda i=i: client.ask(Request(QUESTION.messages, repeat=i), read) for i in range(9)])


def test_closing_gives_up_what_hangs(server: ModelServer, tmp_path: Path) -> None:
    server.script = lambda body: Hang()
    with open_client(settings(server), tmp_path / "cache.db") as client:
        asyncio.run_coroutine_threadsafe(client.turn(QUESTION), client._background.loop)
        while not server.requests:
            continue
    with sqlite3.connect(tmp_path / "cache.db") as raw:
        assert raw.execute("select kind from spending").fetchall() == [("given_up",)]
