"""Conversations over HTTP with a scripted server: what goes wrong is said to the model; bounds end it by a class."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from agent_helpers import ECHO, OPENING, SUBMIT, answer, calls, read, talking
from hypothesis import given, settings
from hypothesis import strategies as st
from model_server.server import Hang, Raw, Said

from rubrics.agents.loop import Bounds, Conversation, Handled, converse
from rubrics.agents.spoken import as_message, with_own_ids
from rubrics.agents.threads import in_thread
from rubrics.errors import InfraError, ModelError
from rubrics.records.models import Call, Reply, Usage


def failure(kind: str) -> Any:
    return pytest.raises(ModelError, check=lambda error: error.kind == kind)


def test_a_model_works_with_its_tools_and_submits() -> None:
    with talking(calls(("echo", {"text": "hi"})), calls(answer(7))) as here:
        talk = here.talk()
    assert talk.value == 7
    assert [message["role"] for message in talk.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
    ]
    assert talk.messages[3]["content"] == "hi"
    assert [tool["function"]["name"] for tool in here.server.requests[0]["tools"]] == ["echo", "submit"]
    assert talk.usage.prompt is not None


def test_messages_are_only_appended_to() -> None:
    turns = [calls(("echo", {"text": "a" * size})) for size in range(1, 6)]
    with talking(*turns, calls(answer(1))) as here:
        here.talk()
    for before, after in pairwise(here.server.requests):
        assert after["messages"][: len(before["messages"])] == before["messages"]
        assert after["tools"] == before["tools"]


def test_parallel_calls_are_carried_out_in_their_order_one_at_a_time() -> None:
    running, seen = threading.Lock(), []

    def handle(values: Mapping[str, Any]) -> str:
        assert running.acquire(blocking=False)
        seen.append(values["text"])
        running.release()
        return str(values["text"])

    with talking(calls(*(("echo", {"text": str(n)}) for n in range(5))), calls(answer(1))) as here:
        talk = here.talk(handlers=[Handled(ECHO, handle)])
    assert seen == ["0", "1", "2", "3", "4"]
    assert [message["content"] for message in talk.messages if message["role"] == "tool"][:5] == seen


def test_calls_of_a_turn_beyond_the_bound_are_refused() -> None:
    with talking(calls(*(("echo", {"text": "x"}) for _ in range(4))), calls(answer(1))) as here:
        here.talk(Bounds(calls=2))
    assert [m["content"].split(":")[0] for m in here.last if m["role"] == "tool"] == ["x", "x", "refused", "refused"]


def test_a_turn_that_works_and_submits_is_carried_out_up_to_the_submission() -> None:
    done: list[str] = []

    def handle(values: Mapping[str, Any]) -> str:
        done.append(values["text"])
        return ""

    with talking(calls(("echo", {"text": "before"}), answer(3), ("echo", {"text": "after"}))) as here:
        assert here.talk(handlers=[Handled(ECHO, handle)]).value == 3
    assert done == ["before"]


def test_of_two_submissions_in_one_turn_none_counts() -> None:
    with talking(calls(answer(1), answer(2)), calls(answer(3))) as here:
        assert here.talk().value == 3
    assert [m["content"].split(":")[0] for m in here.last if m["role"] == "tool"] == [
        "refused (repeated_submission)"
    ] * 2


def test_ids_of_calls_are_made_to_differ_also_over_turns() -> None:
    """The scripted server calls the first call of each turn `call_0`; some endpoints refuse an id that comes twice."""
    with talking(calls(("echo", {"text": "a"}), ("echo", {"text": "b"})), calls(("echo", {"text": "c"})),
                 calls(answer(1))) as here:  # fmt: skip
        talk = here.talk()
    made = [call["id"] for message in talk.messages for call in message.get("tool_calls") or ()]
    answered = [message["tool_call_id"] for message in talk.messages if message["role"] == "tool"]
    assert made == answered
    assert len(set(made)) == len(made) == 4


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("nothing_like_it", {}), "there is no tool 'nothing_like_it'; there are echo"),
        (("echo", '{"text": "cut'), "are no JSON object"),
        (("echo", "[1]"), "are no JSON object"),
        (("echo", '"text"'), "are no JSON object"),
        (("echo", "null"), "are no JSON object"),
        (("echo", ""), "needs the argument 'text'"),
        (("echo", {"words": "x"}), "has no argument 'words'; it has text, times"),
        (("echo", {"text": 3}), "is no text"),
        (("echo", {"text": "x", "times": "NaN"}), "no whole number"),
        (("echo", {"text": "x", "times": 1.5}), "no whole number"),
        (("echo", "[" * 100_000), "are no JSON object"),
        (("echo", "x" * 200_000), "are no JSON object"),
    ],
)
def test_a_call_that_cannot_be_carried_out_is_answered_with_the_reason_and_mended(call: Any, said: str) -> None:
    with talking(calls(call), calls(answer(5))) as here:
        assert here.talk().value == 5
    assert said in here.last[-1]["content"]
    sent = here.last[-2]["tool_calls"][0]["function"]
    assert isinstance(json.loads(sent["arguments"]), dict)
    assert len(sent["arguments"]) < 70_000


def test_a_name_that_no_endpoint_would_take_back_is_sent_back_as_one_that_it_takes() -> None:
    with talking(calls(("functions.echo:0 <|tool|>" + "x" * 100, {})), calls(answer(1))) as here:
        assert here.talk().value == 1
    assert here.last[-2]["tool_calls"][0]["function"]["name"].startswith("functions_echo_0___tool__")
    assert len(here.last[-2]["tool_calls"][0]["function"]["name"]) == 64


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        (Said("I think the answer is 7."), "no_call"),
        (Said('{"answer": 7}'), "no_call"),
        (Said('<tool_call>{"name": "submit", "arguments": {"answer": 7}}</tool_call>'), "no_call"),
        (Said("word " * 40_000), "no_call"),
        (calls(answer("seven")), "off_scale"),
        (calls(("submit", "{")), "shape"),
        (calls(("submit", "")), "shape"),
        (calls(answer(1), answer(1)), "repeated_submission"),
        (calls(("submt", {"answer": 7})), "bad_call"),
    ],
)
def test_what_is_no_submission_is_never_taken_for_one_and_ends_by_its_class(turn: Said, kind: str) -> None:
    with talking(turn) as here, failure(kind):
        here.talk(Bounds(faults=2))
    assert len(here.server.requests) <= 3
    assert "call submit" in json.dumps(here.last) or "refused" in json.dumps(here.last)


def test_a_refused_submission_says_why_and_the_mended_one_counts() -> None:
    with talking(calls(answer(None)), calls(answer(1.5)), calls(answer(9))) as here:
        assert here.talk().value == 9
    assert "refused (off_scale): 1.5 is no whole number" in here.last[-1]["content"]


def test_forty_turns_without_a_submission_are_no_submission_and_the_last_ones_are_warned() -> None:
    with talking(calls(("echo", {"text": "still looking"}))) as here, failure("no_submission"):
        here.talk()
    assert len(here.server.requests) == 40
    assert "[1 turns are left: call submit now]" in here.last[-1]["content"]
    assert "left" not in here.last[3]["content"]


def test_time_that_is_used_up_ends_a_conversation_also_while_the_endpoint_is_silent() -> None:
    with talking(Hang()) as here, failure("no_submission"):
        here.talk(Bounds(seconds=0.2))


def test_tokens_that_are_used_up_end_a_conversation() -> None:
    with talking(calls(("echo", {"text": "x"}), usage={"prompt_tokens": 600})) as here, failure("no_submission"):
        here.talk(Bounds(tokens=2_000))
    assert len(here.server.requests) == 4


def test_a_conversation_that_grows_beyond_its_room_is_too_long_after_a_warning() -> None:
    with talking(calls(("echo", {"text": "x" * 500}))) as here, failure("context_too_long"):
        here.talk(Bounds(characters=20_000))
    assert "characters of room are left: call submit now" in here.last[-1]["content"]


def test_a_reply_that_rambles_is_kept_short_in_what_is_sent_again() -> None:
    with talking(calls(("echo", {"text": "x"}), text="blah " * 40_000), calls(answer(1))) as here:
        here.talk()
    assert len(here.last[-2]["content"]) < 8_100
    assert here.last[-2]["content"].endswith("characters more)")


def test_turns_that_another_model_answered_are_no_conversation() -> None:
    turns = (calls(("echo", {"text": "x"})), calls(answer(1), model="m-2024"))
    with talking(*turns, answers_as=("m-2024",)) as here, failure("wrong_model"):
        here.talk()


def test_what_the_client_raises_and_what_a_handler_finds_broken_pass_through_and_leave_what_was_said() -> None:
    talk: Conversation[int] = Conversation([])
    with talking(calls(("echo", {"text": "x"})), Raw(400, b"{}")) as here, failure("bad_request"):
        here.talk(talk=talk)
    assert len(talk.replies) == 1

    def broken(values: Mapping[str, Any]) -> str:
        raise InfraError("engine_died", "gone")

    with talking(calls(("echo", {"text": "x"}))) as here, pytest.raises(InfraError, match="gone"):
        here.talk(handlers=[Handled(ECHO, broken)])


def test_a_conversation_that_is_cancelled_waits_for_the_command_under_way() -> None:
    begun, may_end, ended = threading.Event(), threading.Event(), []

    def slow(values: Mapping[str, Any]) -> str:
        begun.set()
        assert may_end.wait(30)
        ended.append(True)
        return ""

    async def cancelled() -> bool:
        work = converse(here.client, OPENING, [Handled(ECHO, slow)], SUBMIT, read, Bounds())
        task = asyncio.create_task(work)
        await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        await asyncio.sleep(0)
        waited = not task.done()
        may_end.set()
        await asyncio.gather(task, return_exceptions=True)
        return waited and task.cancelled()

    with talking(calls(("echo", {"text": "x"}))) as here:
        assert here.client.run(cancelled())
    assert ended == [True]


def test_what_was_opened_for_a_conversation_that_is_cancelled_is_closed() -> None:
    begun, may_end, closed = threading.Event(), threading.Event(), []

    def opening() -> str:
        begun.set()
        assert may_end.wait(30)
        return "session"

    async def cancelled() -> None:
        task = asyncio.create_task(in_thread(opening, closed.append))
        await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert closed == ["session"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=3), st.text(), st.text())), st.sets(st.text(max_size=3)), st.text())
def test_whatever_a_model_said_can_be_sent_again(made: list[tuple[str, str, str]], taken: set[str], text: str) -> None:
    reply = Reply(text, tuple(Call(*call) for call in made), None, "m", Usage(), None, 0.0)
    message = as_message(with_own_ids(reply, taken))
    sent = message.get("tool_calls", [])
    ids = [call["id"] for call in sent]
    assert len(set(ids) | taken) == len(ids) + len(taken)
    assert all(ids)
    assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in sent)
    assert all(0 < len(call["function"]["name"]) <= 64 for call in sent)
    assert sent or message["content"] is not None
