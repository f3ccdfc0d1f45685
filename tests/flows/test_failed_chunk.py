"""A chunk that fails: the command names it, does the others, and does it alone when typed again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
from conftest import TIMEOUT, Command
from small_tasks import write_tasks

from rubrics.store.store import Store

WATCHED = Path(__file__).with_name("watched.py")
"""Makes small chunks: the first are done in threads, the others in processes."""


def ingested(command: Command, dump: Path, root: Path) -> tuple[int, str]:
    """`rubrics ingest` into a store; its exit code, and what it said on standard error."""
    watched = {"FOLDER": root, "LOG": root.with_suffix(".log"), "STEP": 0, "GROUP": 0}
    environment = command.environment(**{f"WATCHED_{name}": str(value) for name, value in watched.items()})
    words = [sys.executable, str(WATCHED), "ingest", str(dump), "--store", str(root)]
    done = subprocess.run(words, cwd=root.parent, env=environment, capture_output=True, text=True, timeout=TIMEOUT)
    return done.returncode, done.stderr


def finished(root: Path) -> list[str]:
    lines = root.with_suffix(".log").read_text().splitlines()
    return [line for line in lines if "/work/facts/" in line]


def test_chunks_that_fail_are_named_and_the_others_are_done_and_kept(alone: Command, tmp_path: Path) -> None:
    (tmp_path / "dump").mkdir()
    dump, sound, root = write_tasks(tmp_path / "dump", 25, 12), tmp_path / "sound", tmp_path / "store"
    assert ingested(alone, dump, sound)[0] == 0
    whole = Store.open(sound).manifest()
    parts = {item.relative_to(sound).as_posix() for item in sound.glob("tables/facts/*")} - whole.parts()
    first = {pq.read_table(sound / part, columns=["task_id"])["task_id"][0].as_py(): part for part in parts}
    assert len(first) == 8, "the chunks, before they were put together"
    doomed = [sorted(first)[0], sorted(first)[-1]]
    Store.create(root)
    for label in doomed:
        (root / first[label]).mkdir(parents=True)  # where the chunk's rows are to lie
    code, said = ingested(alone, dump, root)
    assert code == 2
    for label in doomed:
        assert f"facts: chunk {label} failed: " in said
    assert first[doomed[0]] in said.splitlines()[-1], "the last line says why"
    assert len(finished(root)) == 6
    assert Store.open(root).count("facts") == 0
    assert Store.open(root).count("rollouts") == 300
    for label in doomed:
        (root / first[label]).rmdir()
    assert ingested(alone, dump, root)[0] == 0
    assert len(finished(root)) == 8, "two were done, six were taken over"
    assert Store.open(root).manifest().tables == whole.tables
