"""Grading that is killed and started again asks for nothing twice that was stored, and ends as if never killed.

`python tests/judging/test_judging_killed.py 10` kills ten times; the test three times.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / name) for name in ("benchmarks", "judging", "")]

from model_server.server import ModelServer, serving  # noqa: E402
from model_server.sound import sound_verdicts  # noqa: E402

from rubrics.store.store import Store  # noqa: E402

GRADINGS = 208
_SCORE = """
import sys
from rubrics.stages.pipeline import run_stages
from rubrics.stages.stage import run_here
values = {"store": sys.argv[1], "model": "m", "base_url": sys.argv[2], "judge": "single", "concurrency": 16}
run_stages(("score",), values, run_here)
"""


class KillingServer:
    """Answers soundly, marks every reply, and kills the client at the n-th request from now."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.child: subprocess.Popen[bytes] | None = None
        self.kill_at: int | None = None
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        mark = hashlib.sha256(body["messages"][-1]["content"].encode()).hexdigest()
        with self._lock:
            self.asked.append(mark)
            if self.kill_at is not None and len(self.asked) >= self.kill_at and self.child is not None:
                os.kill(self.child.pid, signal.SIGKILL)
                self.kill_at = None
        reply = sound_verdicts(body)
        reply["addressed_to_grader"]["reason"] = f"Nothing does. Read as {mark}."
        return reply


def stored_marks(store: Store) -> set[str]:
    """The marks of the replies that the cache holds."""
    file = store.paths.root / "model-cache.sqlite"
    if not file.exists():
        return set()
    with sqlite3.connect(file) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        cells = [cell for name in names for row in connection.execute(f'SELECT * FROM "{name}"') for cell in row]
    text = b"".join(cell if isinstance(cell, bytes) else str(cell).encode() for cell in cells)
    return {part[:64].decode() for part in text.split(b"Read as ")[1:]}


def graded(store: Store) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = store.query("FROM grades ORDER BY ALL").to_pylist()
    return found


def kill_and_go_on(folder: Path, times: int, seed: int) -> tuple[int, int, int, bool]:
    """Kill so many times; returns the kills, calls repeated for stored replies, calls in all, and whether the table
    is that of an uninterrupted run."""
    from bench_judging import judged_store

    chance = random.Random(seed)
    store = judged_store(folder / "work", GRADINGS)
    script, repeated, kills = KillingServer(), 0, 0
    with serving(script) as server:
        for _ in range(times):
            before, start = stored_marks(store), len(script.asked)
            left = GRADINGS - len(before)
            kills += _run(script, server, store, start + chance.randint(1, max(1, left * 2 // times)))
            repeated += len(before & set(script.asked[start:]))
            assert graded(store) == [], "a killed run leaves no rows"
        before, start = stored_marks(store), len(script.asked)
        assert not _run(script, server, store, None)
        repeated += len(before & set(script.asked[start:]))
        final, asked = graded(store), len(script.asked)
        for file in store.paths.root.glob("model-cache.sqlite*"):
            file.unlink()
        assert not _run(script, server, store, None)
    return kills, repeated, asked, graded(store) == final


def _run(script: KillingServer, server: ModelServer, store: Store, kill_at: int | None) -> bool:
    """One `score` in a process of its own; whether it was killed."""
    script.kill_at = kill_at
    words = [sys.executable, "-c", _SCORE, str(store.paths.root), server.url]
    script.child = subprocess.Popen(words, cwd=ROOT)
    code = script.child.wait()
    script.kill_at = None
    assert code in (0, -signal.SIGKILL), code
    return code != 0


def test_a_grading_killed_three_times_repeats_no_stored_call_and_ends_as_if_never_killed(tmp_path: Path) -> None:
    kills, repeated, asked, same = kill_and_go_on(tmp_path, 3, seed=1)
    assert kills == 3
    assert repeated == 0
    assert asked >= GRADINGS
    assert same


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = kill_and_go_on(Path(folder), int(sys.argv[1]), seed=int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print("kills {}, calls repeated for stored replies {}, calls in all {}, same table {}".format(*found))
