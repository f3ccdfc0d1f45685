"""The cache: several processes, a kill at any moment, damage, other versions."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
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
    cache.put_reply(f"{name}-{i}", f"{name}-{i}".encode() * 50)
    cache.spend(name, [Spent(0.0, "m", "judge", "ok", cost=1.0)])
    print(i, flush=True)
cache.close()
"""


def test_what_was_put_is_there_at_once_and_after_closing(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "deep" / "cache.db")
    cache.put_reply("a", b"1")
    cache.put_reply("a", b"2")
    cache.put_finished("a", "\ud800 work")
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


def test_a_killed_process_leaves_whole_entries_only(tmp_path: Path) -> None:
    chance = random.Random(5)
    for number in range(4):
        path = tmp_path / f"{number}.db"
        command = [sys.executable, "-c", WRITING, str(path), "x", "1000000"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            wanted, seen, watching = chance.randrange(1, 5000), 0, None
            for line in process.stdout:
                seen = int(line)
                if seen % 500 == 499:
                    watching = watching or sqlite3.connect(path)
                    if watching.execute("select count(*) from replies").fetchone()[0] >= wanted:
                        break
            os.kill(process.pid, signal.SIGKILL)
        if watching is not None:
            watching.close()
        cache = Cache(path)
        entries = [cache.reply(f"x-{i}") for i in range(seen + 10)]
        stored = sum(entry is not None for entry in entries)
        assert stored >= wanted
        assert entries[:stored] == [f"x-{i}".encode() * 50 for i in range(stored)], (
            "what is stored is a whole beginning"
        )
        assert cache.spent()[0] >= stored
        cache.put_reply("after", b"the kill")
        cache.close()


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
    cache.put_reply("a", b"1")
    with pytest.raises(StoreError, match="cannot be used"):
        cache.close()
    with pytest.raises(StoreError, match="Free the disk"):
        cache.put_reply("b", b"2")


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
