"""Conversations that were cut off go on where they were; those that came to nothing are held anew."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from agent_helpers import ECHO, answer, calls, echo, talking
from model_server.server import Raw, serving

from rubrics.agents.loop import Bounds, Handled
from rubrics.errors import InfraError, ModelError

TURNS, TALKS, KILLS = 12, 8, 10
TALKING = f"""
import asyncio, os, sys
from pathlib import Path
from rubrics.agents.arguments import tool
from rubrics.agents.loop import Bounds, Handled, converse
from rubrics.models.client import open_client
from rubrics.models.settings import ModelSettings
from rubrics.records.models import Request, Tool
used = os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def note(values):
    os.write(used, (values["text"] + "\\\\n").encode())
    return "noted"
with open_client(ModelSettings("judge-1", sys.argv[1], concurrency=4), Path(sys.argv[2])) as client:
    async def talk(name):
        opening = Request(({{"role": "user", "content": name}},))
        tools = [Handled(tool("note", "Notes it.", {{"text": "What."}}), note)]
        submit = Tool("submit", "The end.", {{"type": "object", "properties": {{}}}})
        return (await converse(client, opening, tools, submit, str, Bounds())).value
    print(*client.run_all([lambda i=i: talk(f"talk-{{i}}") for i in range({TALKS})]))
"""


def test_a_turn_that_was_used_is_never_asked_again_whenever_the_process_is_killed(tmp_path: Path) -> None:
    """Turns were kept nowhere: a process that was killed in the last of forty paid for all of them again."""
    used, chance = tmp_path / "used", random.Random(5)
    seen: list[str] = []
    enough = threading.Event()
    wanted = 0

    def script(body: dict[str, Any]) -> Any:
        number = sum(message["role"] == "assistant" for message in body["messages"])
        seen.append(f"{body['messages'][0]['content']} turn {number}")
        if len(seen) >= wanted:
            enough.set()
        return calls(("note", {"text": seen[-1]}) if number < TURNS - 1 else ("submit", {}))

    with serving(script) as server:
        server.latency = 0.002

        def start() -> subprocess.Popen[str]:
            command = [sys.executable, "-c", TALKING, server.url, str(tmp_path / "cache.db"), str(used)]
            return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

        for number in range(KILLS):
            before = set(used.read_text("utf-8").splitlines()) if used.exists() else set()
            asked = len(seen)
            enough.clear()
            wanted = asked + chance.randrange(1, TALKS * TURNS // KILLS)
            with start() as process:
                assert enough.wait(60)
                os.kill(process.pid, signal.SIGKILL)
            assert not set(seen[asked:]) & before, f"asked again after kill {number}"
        with start() as process:
            assert process.stdout is not None
            assert process.stdout.read().split() == ["{}"] * TALKS
    assert set(seen) == {f"talk-{talk} turn {turn}" for talk in range(TALKS) for turn in range(TURNS)}
    assert len(seen) <= TALKS * TURNS + KILLS * TALKS, "no more than what was under way is asked again"


def test_a_conversation_goes_on_when_what_cut_it_off_is_over(tmp_path: Path) -> None:
    turns = [calls(("echo", {"text": "a"})), calls(("echo", {"text": "b"})), Raw(503, b"busy"), calls(answer(7))]
    with talking(*turns, cache=tmp_path / "cache.db") as here:
        with pytest.raises(ModelError, check=lambda error: error.kind == "server_error"):
            here.talk()
        talk = here.talk()
        assert (talk.value, len(talk.replies), len(here.server.requests)) == (7, 3, 4)
        assert talk.usage.prompt is not None, "the account is that of the whole conversation"


def test_a_conversation_whose_tool_broke_goes_on_from_there(tmp_path: Path) -> None:
    broken = True

    def handle(values: Mapping[str, Any]) -> str:
        if broken:
            raise InfraError("engine_died", "gone")
        return echo(values)

    with talking(calls(("echo", {"text": "a"})), calls(answer(7)), cache=tmp_path / "cache.db") as here:
        with pytest.raises(InfraError):
            here.talk(handlers=(Handled(ECHO, handle),))
        broken = False
        assert here.talk(handlers=(Handled(ECHO, handle),)).value == 7
        assert len(here.server.requests) == 2


def test_what_a_tool_answers_otherwise_is_asked_about_anew(tmp_path: Path) -> None:
    said = iter(["before", "after"])
    turns = [calls(("echo", {"text": "a"})), Raw(503, b"busy"), calls(answer(7))]
    with talking(*turns, cache=tmp_path / "cache.db") as here:
        handlers = (Handled(ECHO, lambda values: next(said)),)
        with pytest.raises(ModelError):
            here.talk(handlers=handlers)
        assert here.talk(handlers=handlers).value == 7
        assert [message["content"] for message in here.last if message["role"] == "tool"] == ["after"]


@pytest.mark.parametrize(
    ("turns", "bounds", "kind"),
    [
        ([calls(("echo", {"text": "a"}))] * 3, Bounds(turns=3), "no_submission"),
        ([calls(("echo", {"text": "a"})), calls(("nothing", {}))], Bounds(faults=0), "bad_call"),
        ([calls(("echo", {"text": "a" * 500}))], Bounds(characters=300), "context_too_long"),
        ([calls(("echo", {"text": "a"})), calls(text="")], Bounds(), "empty"),
        ([calls(("echo", {"text": "a"})), calls(answer(1), model="other")], Bounds(), "wrong_model"),
    ],
)
def test_a_conversation_that_came_to_nothing_is_held_anew(
    turns: list[Any], bounds: Bounds, kind: str, tmp_path: Path
) -> None:
    with talking(*turns, calls(answer(7)), cache=tmp_path / "cache.db") as here:
        with pytest.raises(ModelError, check=lambda error: error.kind == kind):
            here.talk(bounds)
        assert len(here.server.requests) == len(turns)
        talk = here.talk(bounds)
        assert (talk.value, len(talk.replies)) == (7, 1), "from its first turn on"
        assert not talk.replies[0].from_cache
