"""Killed in the middle, again and again: what is stored is never asked a second time, and in the end all is there."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from model_server.server import serving

MANY = 200
GRADING = f"""
import sys
from pathlib import Path
from rubrics.models.client import open_client
from rubrics.models.settings import ModelSettings
from rubrics.records.models import Request
with open_client(ModelSettings("judge-1", sys.argv[1], concurrency=8), Path(sys.argv[2])) as client:
    def ask(index):
        question = Request(({{"role": "user", "content": f"rollout {{index}}"}},))
        return lambda: client.ask(question, lambda reply: reply.text)
    answers = client.run_all([ask(index) for index in range({MANY})])
print(*sorted(answer.value for answer in answers))
"""


def test_two_hundred_gradings_killed_ten_times_at_random(tmp_path: Path) -> None:
    cache, chance = tmp_path / "cache.db", random.Random(11)
    seen: list[str] = []
    enough = threading.Event()
    wanted = 0

    def script(body: dict[str, Any]) -> str:
        seen.append(body["messages"][0]["content"])
        if len(seen) >= wanted:
            enough.set()
        return f"verdict on {seen[-1]}"

    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", GRADING, server.url, str(cache)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    with serving(script) as server:
        server.latency = 0.002
        for _ in range(10):
            stored, before = kept(cache), len(seen)
            enough.clear()
            wanted = before + chance.randrange(1, 30)
            with start() as process:
                assert enough.wait(60)
                os.kill(process.pid, signal.SIGKILL)
            assert not set(seen[before:]) & stored, "asked although it was stored"
        stored, before = kept(cache), len(seen)
        with start() as process:
            assert process.stdout is not None
            told = process.stdout.read().strip()
        assert len(seen) - before == MANY - len(stored)
        assert set(seen[before:]) | stored == {f"rollout {index}" for index in range(MANY)}
    assert told == " ".join(sorted(f"verdict on rollout {index}" for index in range(MANY)))


def kept(cache: Path) -> set[str]:
    """The questions whose replies are stored."""
    if not cache.exists():
        return set()
    with sqlite3.connect(cache) as raw:
        rows = raw.execute("select json_extract(value, '$.text') from replies").fetchall()
    return {text.removeprefix("verdict on ") for (text,) in rows}
