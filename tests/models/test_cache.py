"""The cache: several processes, a kill at any moment, damage, other versions."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from rubrics.errors import StoreError
from rubrics.models.cache import Cache, Spent
from rubrics.models.writing import Writer

WRITING = """
import sys
from pathlib import Path
from rubrics.models.cache import Cache, Spent
cache, name = Cache(Path(sys.argv[1])), sys.argv[2]
for i in range(int(sys.argv[3])):
    cache.spend(name, [Spent(0.0, "m", "judge", "ok", cost=1.0)])
    cache.put_reply(f"{name}-{i}", f"{name}-{i}".encode() * 50).result()
    print(i, flush=True)
cache.close()
"""


def test_what_is_written_is_there_at_once_and_after_closing(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "deep" / "cache.db")
    cache.put_reply("a", b"1")
    cache.put_reply("a", b"2").result()
    cache.put_finished("a", "\ud800 work").result()
    assert (cache.reply("a"), cache.finished("a"), cache.reply("b")) == (b"2", "\ud800 work", None)
    cache.close()
    cache = Cache(tmp_path / "deep" / "cache.db")
    assert (cache.reply("a"), cache.finished("a"), cache.finished("b")) == (b"2", "\ud800 work", None)
    cache.close()


def test_several_processes_open_and_write_one_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    running = [
        subprocess.Popen([sys.executable, "-c", WRITING, str(path), name, "60"], stdout=subprocess.DEVNULL)
        for name in ("one", "two", "three", "four")
    ]
    assert [process.wait(120) for process in running] == [0, 0, 0, 0]
    cache = Cache(path)
    assert all(cache.reply(f"{name}-{i}") for name in ("one", "four") for i in range(60))
    assert cache.spent() == (240.0, 240)
    assert cache.spent("one") == (180.0, 240)
    assert cache.spent("one", 240) == (0.0, 240)
    cache.close()


def test_nothing_that_was_written_is_lost_by_a_kill(tmp_path: Path) -> None:
    """A reply was in use before it was written: killed processes lost those of the last twentieth of a second, and the
    account of what they had cost."""
    chance = random.Random(5)
    for number in range(10):
        path = tmp_path / f"{number}.db"
        command = [sys.executable, "-c", WRITING, str(path), "x", "1000000"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            wanted = chance.randrange(1, 2000)
            while int(process.stdout.readline()) < wanted:
                pass
            os.kill(process.pid, signal.SIGKILL)
            told = [int(line) for line in process.stdout.read().splitlines() if line]
        seen = max(told, default=wanted)
        cache = Cache(path)
        entries = [cache.reply(f"x-{i}") for i in range(seen + 10)]
        stored = sum(entry is not None for entry in entries)
        assert stored > seen
        assert entries[:stored] == [f"x-{i}".encode() * 50 for i in range(stored)], (
            "what is stored is a whole beginning"
        )
        assert cache.spent()[0] >= stored, "what was stored is in the account"
        cache.put_reply("after", b"the kill").result()
        cache.close()


def test_many_replies_that_come_together_cost_few_writes(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.db")
    commits: list[str] = []
    cache._writer._connection.set_trace_callback(lambda text: commits.append(text) if text == "COMMIT" else None)
    with closing(sqlite3.connect(tmp_path / "cache.db", isolation_level=None)) as other:
        other.execute("begin immediate")  # the writer waits for its turn, and replies pile up meanwhile
        puts = [cache.put_reply(f"{i}", b"1" * 1000) for i in range(200)]
        assert not any(done.done() for done in puts)
        other.execute("commit")
    for done in puts:
        done.result(60)
    assert len(commits) <= 3
    cache.close()


def test_a_file_that_another_program_keeps_locked_ends_the_run_with_a_remedy_and_loses_no_place(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.db")
    cache._writer._connection.execute("pragma busy_timeout = 50")
    with closing(sqlite3.connect(tmp_path / "cache.db", isolation_level=None)) as other:
        other.execute("begin immediate")
        with pytest.raises(StoreError, match=r"locked.*another program.*run again"):
            cache.put_reply("a", b"1").result(60)
        with pytest.raises(StoreError, match="locked"):
            cache.check()
    with pytest.raises(StoreError, match="locked"):
        cache.close()


def test_a_cache_that_is_closed_says_so_instead_of_letting_wait(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.db")
    cache.close()
    with pytest.raises(RuntimeError, match="closed"):
        cache.put_reply("a", b"1")


def test_a_damaged_entry_counts_as_missing(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.db")
    cache.put_reply("a", b"whole")
    cache.put_finished("a", "whole")
    cache.close()
    for damage in ("value = x'00'", "value = 7", "value = 'whole'", "crc = 1"):
        with sqlite3.connect(tmp_path / "cache.db") as raw:
            raw.execute(f"update replies set {damage}")
            raw.execute(f"update finished set {damage}")
        cache = Cache(tmp_path / "cache.db")
        assert (cache.reply("a"), cache.finished("a")) == (None, None)
        cache.put_reply("a", b"whole")
        cache.close()
        cache = Cache(tmp_path / "cache.db")
        assert cache.reply("a") == b"whole"
        cache.close()


@pytest.mark.parametrize(
    "content", [b"this is no database at all, but some text" * 100, b"SQLite format 3\x00" + b"\xff" * 5000]
)
def test_a_file_that_is_no_cache_is_refused_with_a_remedy_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cache.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"cache.db: .*move it away"):
        Cache(path)
    assert path.read_bytes() == content


def test_a_cache_of_another_version_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "cache.db") as raw:
        raw.execute("pragma user_version = 99")
    with pytest.raises(StoreError, match="version 99"):
        Cache(tmp_path / "cache.db")


def test_pages_that_are_damaged_later_stop_the_run_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    cache = Cache(path)
    for i in range(500):
        cache.put_reply(f"{i}", b"x" * 2000)
    cache.close()
    data = bytearray(path.read_bytes())
    data[8192:-4096] = b"\xaa" * (len(data) - 8192 - 4096)
    path.write_bytes(data)
    with pytest.raises(StoreError, match="move it away"):  # noqa: PT012 - which call finds it is SQLite's affair
        cache = Cache(path)
        for i in range(500):
            cache.reply(f"{i}")


def test_a_disk_that_takes_no_more_stops_the_run_instead_of_losing_what_was_paid(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.db")
    writer: Writer = cache._writer
    writer._connection.execute("pragma query_only = on")
    with pytest.raises(StoreError, match="Free the disk"):
        cache.put_reply("a", b"1").result()
    with pytest.raises(StoreError, match="Free the disk"):
        cache.put_reply("b", b"2").result()
    with pytest.raises(StoreError, match="cannot be used"):
        cache.check()
    with pytest.raises(StoreError, match="cannot be used"):
        cache.close()


def test_spending_counts_estimates_where_the_cost_is_not_known(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.db")
    cache.spend("s", [Spent(1.0, "m", "judge", "ok", 10, 0, 5, cost=0.5, estimate=9.0)])
    cache.spend("s", [Spent(2.0, "m", "judge", "timeout", estimate=0.25), Spent(3.0, "m", "judge", "ok", 10, 0, 5)])
    cache.close()
    cache = Cache(tmp_path / "cache.db")
    assert cache.spent() == (0.75, 3)
    cache.close()


def test_the_first_name_that_answered_stays(tmp_path: Path) -> None:
    first, second = Cache(tmp_path / "cache.db"), Cache(tmp_path / "cache.db")
    assert first.answering("m at u", "m-2026-01-01") == "m-2026-01-01"
    assert second.answering("m at u", "m-2026-06-01") == "m-2026-01-01"
    assert second.answering("m at v", "m-2026-06-01") == "m-2026-06-01"
    first.close()
    second.close()
