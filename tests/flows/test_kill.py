"""A run that is killed leaves a store that can be read, and the next run ends like one that nobody killed."""

from __future__ import annotations

import os
import select
import subprocess
from pathlib import Path
from random import Random

import pytest
from conftest import TIMEOUT, Command, rewards, rows

from rubrics.store.manifest import read_manifest
from rubrics.store.schema import TABLES

LINES = 11
"""Progress lines of a run: its start, and the start and end of five stages."""
VIEWS = ("rewards", "reward_by_task", "census_totals", "chosen_outcomes", "scores", "reward_inputs")


def killed_at(rubrics: Command, dumps: list[Path], folder: Path, line: int) -> None:
    """Start a run and kill it without warning when it has said so many lines of progress."""
    process = subprocess.Popen(
        rubrics.words("run", *dumps), cwd=folder, env=rubrics.environment(), stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True
    )  # fmt: skip
    assert process.stderr is not None
    for _ in range(line):
        assert process.stderr.readline()
    process.kill()
    process.wait()
    process.stderr.close()


def consistent(store: Path, rollouts: int = 39) -> bool:
    """The store is absent, or its manifest can be read and every view answers from whole tables."""
    if not (store / "manifest.json").exists():
        assert not store.exists() or not [item for item in store.rglob("*") if item.name != ".lock"]
        return True
    manifest = read_manifest(store / "manifest.json")
    for name in TABLES:
        version = manifest.current(name)
        if version is not None and TABLES[name].has_view:
            assert rows(store, f"SELECT count(*) AS n FROM {name}") == [{"n": version.rows}], name
    for view in VIEWS:
        rows(store, f"SELECT count(*) FROM {view}")
    counts = {name: version.rows for name in TABLES if (version := manifest.current(name)) is not None}
    assert counts.get("rollouts", rollouts) == rollouts
    for name in ("facts", "rewards"):
        assert counts.get(name, 0) in (0, rollouts), "a table of a killed stage is not half there"
    return True


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_killed_run_leaves_a_consistent_store_and_the_next_one_ends_like_any(
    rubrics: Command, dumps: list[Path], scored: Path, tmp_path: Path, seed: int
) -> None:
    store = tmp_path / "rubrics-store"
    points = Random(seed).sample(range(1, LINES), 2)
    for line in points:
        killed_at(rubrics, dumps, tmp_path, line)
        assert consistent(store), f"killed at line {line}"
    rubrics("run", *dumps, cwd=tmp_path, code=1)
    assert rewards(store) == rewards(scored), f"killed at lines {points}"


def test_clean_removes_what_killed_runs_left_and_nothing_that_is_used(
    rubrics: Command, dumps: list[Path], scored: Path, copied: Path
) -> None:
    killed_at(rubrics, dumps, copied.parent, 4)
    (copied / "tables" / "facts" / "0123456789abcdef-00000.parquet").write_bytes(b"an orphan")
    (copied / "tables" / "facts" / ".0123456789abcdef-00001.parquet.tmp").write_bytes(b"half a part")
    assert rewards(copied) == rewards(scored), "older tables stay current until a stage has ended"
    rubrics("clean", cwd=copied.parent, code=0)
    named = {copied / part for part in read_manifest(copied / "manifest.json").parts()}
    assert {item for item in (copied / "tables").rglob("*") if item.is_file()} == named
    assert rewards(copied) == rewards(scored)
    assert "0 files" in rubrics("clean", cwd=copied.parent, code=0).out


@pytest.mark.parametrize("runner", ["local", "prefect"])
def test_a_run_that_is_asked_to_end_takes_its_children_with_it(alone: Command, tmp_path: Path, runner: str) -> None:
    process = subprocess.Popen(
        alone.words("demo", "--runner", runner), cwd=tmp_path, env=alone.environment(), stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True
    )  # fmt: skip
    assert process.stderr is not None
    while not process.stderr.readline().startswith("facts"):
        assert process.poll() is None
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    servers = [os.pidfd_open(int(pid)) for pid in children.read_text().split()]
    assert bool(servers) == (runner == "prefect"), "the temporary server"
    process.terminate()
    assert "stopped; the store holds" in process.communicate(timeout=TIMEOUT)[1]
    assert process.returncode == 130
    for server in servers:
        assert select.select([server], [], [], 30)[0], "a server outlives the run that started it"
    assert consistent(tmp_path / "rubrics-demo", rollouts=32)
