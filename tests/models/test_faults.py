"""Every way to misbehave, over HTTP, streamed and whole: it ends in the right class, is sent again only where that can
help, and nothing of it is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from model_server.clock import StepClock
from model_server.faults import CALLS, CONTENT, FINAL, PROTOCOL, TRANSPORT, Spoiler, fenced, in_turn
from model_server.server import ModelServer, Said, serving

from rubrics.agents.loop import Bounds, converse
from rubrics.errors import ModelError, UnusableReply
from rubrics.models.client import open_client
from rubrics.models.settings import ModelSettings
from rubrics.records.models import Reply, Request, Tool, Usage
from rubrics.replies.json_text import read_object

VERDICT = {"reason": "It is there.", "level": "met", "evidence": []}
GOOD = {"addressed_to_grader": {"found": False}, "verdicts": {"first": VERDICT, "second": VERDICT}}
QUESTION = Request(({"role": "user", "content": "judge this"},), purpose="judge")


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def settings(server: ModelServer, stream: bool, **more: Any) -> ModelSettings:
    return ModelSettings(**{"model": "judge-1", "base_url": server.url, "stream": stream, "timeout": 60.0, **more})


def read(reply: Reply) -> dict[str, Any]:
    value = dict(read_object(reply.text, "verdicts", "repeated_criterion"))
    if value != GOOD:
        raise UnusableReply("shape", "not what was asked for")
    return value


@pytest.mark.parametrize("name", TRANSPORT)
def test_a_failing_transport_is_tried_again_and_then_told_apart(name: str, stream: bool, tmp_path: Path) -> None:
    spoiler, kind = TRANSPORT[name]
    attempts = 2
    spoilers = [spoiler] * attempts + [spoiler]
    with serving(in_turn(lambda body: GOOD, spoilers)) as server:
        chosen = settings(server, stream, attempts=attempts, timeout=0.5 if name == "hang" else 60.0)
        with open_client(chosen, tmp_path / "cache.db", StepClock()) as client:
            with pytest.raises(ModelError) as error:
                client.run(client.ask(QUESTION, read))
            assert error.value.kind == kind
            assert len(server.requests) == attempts
            answer = client.run(client.ask(QUESTION, read))
            assert (answer.value, answer.calls, answer.reply.from_cache) == (GOOD, 2, False)
            assert client.counters.retried == 2
            assert dict(client.counters.failed) == {kind: 1}


@pytest.mark.parametrize("name", FINAL)
def test_what_no_second_try_can_help_is_not_tried_again(name: str, stream: bool, tmp_path: Path) -> None:
    spoiler, kind = FINAL[name]
    with (
        serving(in_turn(lambda body: GOOD, [spoiler])) as server,
        open_client(settings(server, stream), tmp_path / "cache.db", StepClock()) as client,
    ):
        with pytest.raises(ModelError) as error:
            client.run(client.ask(QUESTION, read))
        assert (error.value.kind, len(server.requests)) == (kind, 1)
        assert client.run(client.ask(QUESTION, read)).calls == 1


@pytest.mark.parametrize("name", PROTOCOL)
def test_an_answer_of_no_use_is_asked_again_before_any_reader_sees_it(name: str, stream: bool, tmp_path: Path) -> None:
    spoiler, kind = PROTOCOL[name]
    seen: list[str] = []

    def watched(reply: Reply) -> dict[str, Any]:
        seen.append(reply.text)
        return read(reply)

    with (
        serving(in_turn(lambda body: GOOD, [spoiler] * 3)) as server,
        open_client(settings(server, stream), tmp_path / "cache.db", StepClock()) as client,
    ):
        with pytest.raises(ModelError) as error:
            client.run(client.ask(QUESTION, watched))
        assert (error.value.kind, len(server.requests)) == (kind, 2)
        assert client.run(client.ask(QUESTION, watched)).calls == 2
        assert seen == [json.dumps(GOOD)]
        assert dict(client.counters.unusable) == {kind: 3}


@pytest.mark.parametrize("name", CONTENT)
def test_a_reply_that_the_reader_refuses_is_never_kept(name: str, stream: bool, tmp_path: Path) -> None:
    with (
        serving(in_turn(lambda body: GOOD, [CONTENT[name]] * 2)) as server,
        open_client(settings(server, stream), tmp_path / "cache.db", StepClock()) as client,
    ):
        with pytest.raises(ModelError) as error:
            client.run(client.ask(QUESTION, read))
        assert error.value.kind in {"not_json", "shape", "repeated_criterion", "truncated"}, error.value
        assert client.run(client.ask(QUESTION, read)).calls == 1
        assert len(server.requests) == 3


def test_a_fence_around_a_good_reply_arrives_as_it_is(stream: bool) -> None:
    with serving(lambda body: fenced(GOOD)) as server, open_client(settings(server, stream)) as client:
        assert client.run(client.turn(QUESTION)).text == fenced(GOOD)


@pytest.mark.parametrize("name", CALLS)
def test_a_broken_call_is_shown_to_the_model_and_the_conversation_goes_on(name: str, stream: bool) -> None:
    submit = Tool("submit", "Submit.", {"type": "object"})
    spoilers: list[Spoiler | None] = [CALLS[name], lambda good: Said(calls=(("submit", good),))]

    def accept(arguments: str) -> dict[str, Any]:
        return read(Reply(arguments, (), None, "", Usage(), None, 0.0))

    with serving(in_turn(lambda body: GOOD, spoilers)) as server, open_client(settings(server, stream)) as client:
        talk = client.run(converse(client, QUESTION, (), submit, accept, Bounds(turns=4)))
        assert talk.value == GOOD
        assert len(server.requests) == 2
        assert server.requests[1]["messages"][-1]["role"] in ("tool", "user")
