"""`rubrics demo` in an empty folder: what it prints, writes and returns."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conftest import Command, Ran, rewards, rows


def test_the_demo_prints_rewards_and_census_and_returns_1_because_a_rollout_has_none(demo: tuple[Ran, Path]) -> None:
    ran, folder = demo
    assert ran.code == 1, ran.err
    for word in ("Rewards by group", "sample__textkit-17", "Census", "infra", "truncated"):
        assert word in ran.out
    assert any(row["reward"] is None for row in rewards(folder / "rubrics-demo"))


def test_the_demo_writes_its_store_and_nothing_else(demo: tuple[Ran, Path]) -> None:
    _, folder = demo
    assert [item.name for item in folder.iterdir()] == ["rubrics-demo"]
    names = {item.name for item in (folder / "rubrics-demo").iterdir()}
    assert names == {"manifest.json", "views.sql", "report.html", "rubrics", "tables", "history", "files", ".lock"}
    assert len(list((folder / "rubrics-demo" / "rubrics").iterdir())) == 8


def test_progress_is_plain_lines_on_standard_error_each_said_once(demo: tuple[Ran, Path]) -> None:
    ran, _ = demo
    lines = ran.err.splitlines()
    assert len(lines) == len(set(lines)), ran.err
    assert {line.split(":")[0] for line in lines} >= {"starting", "ingest", "facts", "synthesize", "score", "reward"}
    assert "Warning" not in ran.err


def test_json_is_one_object_that_says_the_same(rubrics: Command, demo: tuple[Ran, Path], tmp_path: Path) -> None:
    ran = rubrics("demo", "--json", cwd=tmp_path, code=1)
    said = ran.json
    assert ran.err == ""
    assert {said["done"][stage] for stage in ("ingest", "facts", "synthesize", "score", "reward")} == {32}
    assert {row["task_id"] for row in said["rewards"]} == {
        "sample__confpath-31", "sample__durations-23", "sample__spans-8", "sample__textkit-17"
    }  # fmt: skip
    assert sum(row["n"] for row in said["census"] if row["kind"] in ("ok", "infra", "truncated")) == 32
    assert rewards(tmp_path / "rubrics-demo") == rewards(demo[1] / "rubrics-demo")


def test_the_views_work_when_duckdb_is_started_in_the_store(demo: tuple[Ran, Path]) -> None:
    program = """
import duckdb
connection = duckdb.connect()
connection.execute(open("views.sql", encoding="utf-8").read())
names = [row[0] for row in connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()]
for name in names:
    connection.execute(f'SELECT count(*) FROM "{name}"').fetchall()
print(len(names), connection.execute("SELECT count(*) FROM rewards").fetchone()[0])
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=demo[1] / "rubrics-demo", capture_output=True, text=True, check=True
    )
    views, rollouts = map(int, done.stdout.split())
    assert views >= 15
    assert rollouts == 32


def test_the_demo_can_be_run_again_over_its_own_store(rubrics: Command, tmp_path: Path) -> None:
    rubrics("demo", cwd=tmp_path, code=1)
    before = rewards(tmp_path / "rubrics-demo")
    rubrics("demo", cwd=tmp_path, code=1)
    assert rewards(tmp_path / "rubrics-demo") == before
    assert rows(tmp_path / "rubrics-demo", "SELECT * FROM census WHERE kind = 'edited_set_aside'") == []
