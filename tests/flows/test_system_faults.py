"""What goes wrong on a disk, as a user sees it: one line that says what and where, exit code 2, nothing half done."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import TIMEOUT, Command, Ran

from rubrics.store.store import Store

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample"
ROLLOUT = "sample__textkit-17/beta-3"
READERS = (
    ("query", "FROM rewards"), ("show", ROLLOUT), ("report",), ("export", "--to", "parquet", "--output", "out"),
    ("query", "FROM reward_by_task", "--format", "csv"),
)  # fmt: skip
PROGRESS = ("starting", "ingest:", "facts:", "synthesize:", "score:", "audit:", "reward:", "test:", "token_weights:")


@pytest.fixture
def store(sample_store: Store, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sample_store.paths.root, tmp_path / "store"))


def line_of(ran: Ran) -> str:
    """The one line that is not progress."""
    (line,) = [line for line in ran.err.splitlines() if line and not line.startswith(PROGRESS)]
    assert line.startswith("rubrics: ")
    assert "Traceback" not in ran.out
    return line


def flipped(part: Path) -> None:
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "flipped": (flipped, "is not what was written"),
    "cut short": (lambda part: os.truncate(part, part.stat().st_size - 9), "is cut short"),
    "missing": (Path.unlink, "is not there"),
    "another part": (lambda part: shutil.copy(next(part.parents[1].glob("tasks/*")), part), "is not what was written"),
}


@pytest.mark.parametrize("words", READERS, ids=" ".join)
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_part_is_named_by_whatever_reads_it(
    alone: Command, store: Path, damage: str, words: tuple[str, ...]
) -> None:
    """A missing part said "Permission Error: ... disabled by configuration", a flipped byte was believed."""
    harm, said = DAMAGE[damage]
    (part,) = (store / "tables" / "rewards").iterdir()
    harm(part)
    ran = alone(*words, "--store", "store", cwd=store.parent, code=2)
    line = line_of(ran)
    for word in ("table rewards", f"tables/rewards/{part.name}", said, "`rubrics repair`", "`rubrics reward`"):
        assert word in line
    assert ran.out == ""


def test_a_stage_whose_input_is_damaged_changes_nothing_and_another_makes_it_again(alone: Command, store: Path) -> None:
    (part,) = (store / "tables" / "facts").iterdir()
    manifest = (store / "manifest.json").read_bytes()
    flipped(part)
    line = line_of(alone("score", "--store", "store", cwd=store.parent, code=2))
    assert "table facts: its part" in line
    assert "`rubrics facts`" in line
    assert (store / "manifest.json").read_bytes() == manifest
    assert "facts" in alone("repair", "--check", "--store", "store", cwd=store.parent, code=1).out
    alone("facts", "--store", "store", cwd=store.parent, code=0)
    alone("score", "--store", "store", cwd=store.parent, code=0)
    alone("clean", "--store", "store", cwd=store.parent, code=0)
    alone("repair", "--check", "--store", "store", cwd=store.parent, code=0)


def test_a_lost_manifest_is_told_with_the_way_back_and_comes_back(alone: Command, store: Path) -> None:
    before = alone("query", "FROM rewards", "--format", "csv", "--store", "store", cwd=store.parent, code=0).out
    (store / "manifest.json").unlink()
    for words in (("status",), ("query", "FROM rewards"), ("score",), ("run", SAMPLE / "tasks.jsonl")):
        line = line_of(alone(*words, "--store", "store", cwd=store.parent, code=2))
        assert "its manifest.json is lost; `rubrics repair --store" in line
    assert "made from its history" in alone("repair", "--store", "store", cwd=store.parent, code=0).out
    after = alone("query", "FROM rewards", "--format", "csv", "--store", "store", cwd=store.parent, code=0).out
    assert after == before


def test_repair_says_which_table_stepped_back_and_ends_with_1(alone: Command, store: Path) -> None:
    alone("reward", "--factors", "solution", "--store", "store", cwd=store.parent)
    newest = max((store / "tables" / "rewards").iterdir(), key=lambda part: part.stat().st_mtime_ns)
    flipped(newest)
    (row,) = [
        row
        for row in alone("repair", "--json", "--store", "store", cwd=store.parent, code=1).json
        if row["state"] != "kept"
    ]
    assert (row["table"], row["state"], row["rows"]) == ("rewards", "older", 32)
    assert newest.name in row["wrong"]
    alone("query", "FROM rewards", "--store", "store", cwd=store.parent, code=0)


# What is no file and no folder


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    folder = tmp_path / "odd"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(folder / "socket"))
    (folder / "device").symlink_to("/dev/zero")
    (folder / "null").symlink_to("/dev/null")
    return folder


@pytest.mark.parametrize("name", ["pipe", "socket", "device", "null"])
@pytest.mark.parametrize(
    "words",
    [
        ("ingest",), ("run", SAMPLE / "tasks.jsonl", "--study-from"), ("test", "--from-logs"),
        ("run", SAMPLE / "tasks.jsonl", "--config"), ("status", "--store"), ("run", SAMPLE / "tasks.jsonl", "--store"),
        ("repair", "--store"),
    ],
    ids=lambda words: " ".join(str(word) for word in words if not isinstance(word, Path)),
)  # fmt: skip
def test_a_pipe_a_socket_or_a_device_is_called_what_it_is_and_never_read(
    alone: Command, odd: Path, words: tuple[object, ...], name: str
) -> None:
    """A pipe was "no such file or folder"; reading one would wait for ever."""
    line = line_of(alone(*words, odd / name, cwd=odd.parent, code=2))
    kind = {"pipe": "a pipe", "socket": "a socket"}.get(name, "a device")
    assert str(odd / name) in line or str((odd / name).resolve()) in line
    assert ("no folder" if "--store" in words else kind) in line
    assert "no such file" not in line


# Disks and permissions


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of six megabytes; skipped where none may be mounted."""
    place = tmp_path / "small"
    place.mkdir()
    tried = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", place], capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"no disk may be mounted here: {tried.stderr.strip()}")
    yield place
    subprocess.run(["umount", place], check=True, timeout=TIMEOUT)


def filled(place: Path) -> None:
    with open(place / "fill", "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)


WRITERS = (
    ("score",), ("reward",), ("facts",), ("audit",), ("report",), ("clean",),
    ("export", "--to", "parquet", "--output", "small/out"), ("query", "FROM facts", "--output", "small/f.csv"),
    ("query", "FROM facts", "--output", "small/f.parquet"),
)  # fmt: skip


def test_a_full_disk_names_its_place_and_what_was_there_stays(
    alone: Command, sample_store: Store, small_disk: Path
) -> None:
    """A write to a full disk named no path."""
    store = Path(shutil.copytree(sample_store.paths.root, small_disk / "store"))
    before = {item: item.read_bytes() for item in store.rglob("*") if item.is_file()}
    filled(small_disk)
    for words in WRITERS:
        line = line_of(alone(*words, "--store", "small/store", cwd=small_disk.parent, code=2))
        assert "no space is left on this disk" in line, words
        assert "small/" in line.split(": no space")[0], words
        assert ".tmp" not in line, words
        assert {item: item.read_bytes() for item in store.rglob("*") if item.is_file()} == before, words
    assert {item.name for item in small_disk.iterdir()} == {"store", "fill"}


def test_a_read_only_disk_is_called_so_and_can_be_read(alone: Command, sample_store: Store, small_disk: Path) -> None:
    shutil.copytree(sample_store.paths.root, small_disk / "store")
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True, timeout=TIMEOUT)
    for words in WRITERS:
        line = line_of(alone(*words, "--store", "small/store", cwd=small_disk.parent, code=2))
        assert "read-only" in line, words
        assert "free" not in line, words
    for reads in (("status",), ("query", "FROM rewards"), ("show", ROLLOUT), ("repair", "--check")):
        alone(*reads, "--store", "small/store", cwd=small_disk.parent, code=0)


@pytest.mark.parametrize("place", ["manifest.json", "tables/rewards", "part", "rubrics", "."])
def test_without_permission_the_file_is_named_and_nothing_is_repaired(alone: Command, store: Path, place: str) -> None:
    closed = next((store / "tables" / "rewards").iterdir()) if place == "part" else store / place
    words = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner"] if os.geteuid() == 0 else []
    if words and not shutil.which("setpriv"):
        pytest.skip("root reads everything, and setpriv is not there to take that away")
    mode = closed.stat().st_mode
    manifest = (store / "manifest.json").read_bytes()
    closed.chmod(0)
    try:
        reading = ("score",) if place == "rubrics" else ("query", "FROM rewards")
        for asked in (reading, ("repair",)) if place in ("manifest.json", "part", ".") else (reading,):
            done = subprocess.run(
                [*words, *alone.words(*asked, "--store", "store")], cwd=store.parent, env=alone.environment(),
                capture_output=True, text=True, timeout=TIMEOUT
            )  # fmt: skip
            assert done.returncode == 2, done.stderr
            line = line_of(Ran(done.returncode, done.stdout, done.stderr))
            assert "you have no permission for this; change its mode or owner" in line
            assert str(store) in line
    finally:
        closed.chmod(mode)
    assert (store / "manifest.json").read_bytes() == manifest
