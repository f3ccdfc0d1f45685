"""Killed in the middle, again and again: what was used is never asked a second time, and in the end all is there."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from model_server.server import serving

from rubrics.models.cache import Cache

MANY = 300
KILLS = 12
GRADING = f"""
import os, sys
from pathlib import Path
from rubrics.models.client import open_client
from rubrics.models.settings import ModelSettings
from rubrics.records.models import Request
used = os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
with open_client(ModelSettings("judge-1", sys.argv[1], concurrency=8), Path(sys.argv[2])) as client:
    async def ask(index):
        question = Request(({{"role": "user", "content": f"rollout {{index % {MANY}}}"}},), purpose="judge")
        answer = await client.ask(question, lambda reply: reply.text)
        os.write(used, f"rollout {{index % {MANY}}}\\n".encode())
        return answer
    answers = client.run_all([lambda index=index: ask(index) for index in range({MANY} + 20)])
print(*sorted({{answer.value for answer in answers}}))
"""


def test_a_reply_that_was_used_is_never_asked_again_whenever_the_process_is_killed(tmp_path: Path) -> None:
    """Replies were written up to a tenth of a second after their use: of 190 calls at 50 ms a kill lost a quarter."""
    cache, used, chance = tmp_path / "cache.db", tmp_path / "used", random.Random(11)
    seen: list[str] = []
    enough = threading.Event()
    wanted = 0

    def script(body: dict[str, Any]) -> str:
        seen.append(body["messages"][0]["content"])
        if len(seen) >= wanted:
            enough.set()
        return f"verdict on {seen[-1]}"

    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", GRADING, server.url, str(cache), str(used)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def known() -> set[str]:
        return set(used.read_text("utf-8").splitlines()) if used.exists() else set()

    with serving(script) as server:
        for number in range(KILLS):
            server.latency = chance.choice((0.0, 0.002, 0.02))
            before, asked = known(), len(seen)
            enough.clear()
            wanted = asked + chance.randrange(1, 2 * MANY // KILLS)
            with start() as process:
                assert enough.wait(60)
                os.kill(process.pid, signal.SIGKILL)
            again = set(seen[asked:]) & before
            assert not again, f"asked again after kill {number}, although the process had used the reply"
        before, asked = known(), len(seen)
        with start() as process:
            assert process.stdout is not None
            told = process.stdout.read().strip()
        assert not set(seen[asked:]) & before
        assert told == " ".join(sorted(f"verdict on rollout {index}" for index in range(MANY)))
        asked = len(seen)
        with start() as process:
            assert process.wait(60) == 0
        assert len(seen) == asked, "all is on record"
    lost = sum(times - 1 for times in Counter(seen).values())
    assert lost <= KILLS * 2 * 8, "no more than what was under way is asked again"
    with closing(Cache(cache)) as account:
        assert account.spent()[1] >= MANY, "whatever is on record is in the account"
