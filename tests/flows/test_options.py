"""What the switches do, what wrong values are told, and the commands that only read or tidy."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from conftest import TIMEOUT, Command, rewards, rows

from rubrics.cli.main import cli
from rubrics.rules.language import vocabulary

READING_A_STORE = (
    ("status",), ("query", "SELECT 1"), ("show", "x"), ("report",), ("export", "--to", "trl", "--output", "o"),
    ("history",), ("restore", "1"), ("repair",), ("clean",), ("facts",), ("show-prompt", "x"), ("estimate",),
    ("synthesize",), ("score",), ("audit",), ("test",), ("prepare",), ("check-tasks",), ("reward",),
)  # fmt: skip
HEAVY = ("pyarrow", "duckdb", "pandas", "litellm", "prefect", "openai")
TASK = "marshmallow-code__marshmallow-1359"


@pytest.fixture(scope="module")
def with_bare(rubrics: Command, dumps: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store where two passing attempts of a task have a patch and no transcript, and are the same."""
    folder = tmp_path_factory.mktemp("bare")
    patch = "diff --git a/src/marshmallow/fields.py b/src/marshmallow/fields.py\n--- a/src/marshmallow/fields.py\n"
    patch += "+++ b/src/marshmallow/fields.py\n@@ -1,2 +1,3 @@\n import os\n+import sys\n import re\n"
    lines: list[dict[str, Any]] = []
    for attempt in (0, 1):
        own = {"task_id": TASK, "run": "bare", "attempt": attempt, "policy": "p"}
        lines += [{"kind": "rollout", "patch": patch, **own}, {"kind": "outcome", "outcome": "passed", **own}]
    (folder / "bare.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    rubrics("run", *dumps, "bare.jsonl", "--tasks", "marsh*", cwd=folder, code=1)
    return folder


def bare(folder: Path) -> list[dict[str, Any]]:
    return [row for row in rewards(folder / "rubrics-store") if row["run"] == "bare"]


def test_a_pass_without_transcript_is_ungraded_and_the_census_names_the_switch(with_bare: Path) -> None:
    assert {(row["status"], row["failure_class"], row["reward"]) for row in bare(with_bare)} == {
        ("ungraded", "no_transcript", None)
    }
    (line,) = rows(with_bare / "rubrics-store", "FROM census WHERE kind = 'ungraded_no_transcript'")
    assert line["count"] == 2
    assert "--factors solution" in line["detail"]


def test_what_tasks_leaves_out_is_counted(with_bare: Path) -> None:
    store = with_bare / "rubrics-store"
    assert {row["task_id"] for row in rewards(store)} == {TASK, "marshmallow-code__marshmallow-1343"}
    (line,) = rows(store, "SELECT sum(count)::INT AS n FROM census WHERE kind = 'filtered'")
    assert line["n"] == 39 - 10


def test_the_switch_scores_it_and_another_leaves_out_what_repeats(rubrics: Command, with_bare: Path) -> None:
    ran = rubrics("reward", "--factors", "solution", "--json", cwd=with_bare, code=0)
    scored = bare(with_bare)
    assert [(row["status"], row["reward"]) for row in scored] == [("ok", row["solution"]) for row in scored]
    assert len(scored) == 2
    assert ran.json["done"]["reward"] == 12
    rubrics("reward", "--factors", "solution", "--drop-duplicates", cwd=with_bare, code=0)
    assert len(bare(with_bare)) == 1
    (line,) = rows(with_bare / "rubrics-store", "FROM census WHERE kind = 'duplicate_dropped'")
    assert line["count"] == 1


def test_limit_takes_the_first_tasks_by_id_whatever_the_order_of_dumps(
    rubrics: Command, real: Path, tmp_path: Path
) -> None:
    runs = sorted((real / "mini-swe-agent").iterdir())
    for name, order in (("a", runs), ("b", runs[::-1])):
        rubrics("ingest", *order, real / "specs.jsonl", "--limit", 2, "--store", name, cwd=tmp_path, code=0)
        tasks = [row["task_id"] for row in rows(tmp_path / name, "SELECT DISTINCT task_id FROM rollouts ORDER BY 1")]
        assert tasks == ["marshmallow-code__marshmallow-1343", TASK], name


def test_groups_may_be_kept_apart_by_policy(rubrics: Command, real: Path, tmp_path: Path) -> None:
    rubrics("ingest", real / "mini-swe-agent", "--group-by", "task,policy", cwd=tmp_path, code=0)
    groups = "SELECT group_id, count(DISTINCT policy) AS policies FROM rollouts GROUP BY ALL"
    assert {row["policies"] for row in rows(tmp_path / "rubrics-store", groups)} == {1}
    assert not rows(tmp_path / "rubrics-store", "FROM census WHERE kind = 'mixed_policies'")


@pytest.mark.parametrize(
    ("words", "value", "remedy"),
    [
        (("run", "nowhere"), "nowhere", "name a dump"),
        (("run",), "DUMP", "--help"),
        (("run", ".", "--limit", "0"), "--limit 0", "at least 1"),
        (("run", ".", "--limit", "many"), "'many'", "--help"),
        (("run", ".", "--workers", "-1"), "--workers -1", "at least 1"),
        (("run", ".", "--study", "0"), "--study 0", "at least 1"),
        (("run", ".", "--group-by", "run"), "'run'", "'task,policy'"),
        (("run", ".", "--factors", "solution,style"), "solution,style", "solution, behavior"),
        (("run", ".", "--factors", "solution,solution"), "solution,solution", "each once"),
        (("run", ".", "--study-from", "nowhere"), "nowhere", "name a dump"),
        (("reward", "--config", "nowhere.toml"), "nowhere.toml", ""),
        (("run", ".", "--storr", "x"), "--storr", "--store"),
        (("scor",), "scor", "score"),
        (("score",), "rubrics-store", "rubrics run"),
        (("status", "--store", "nowhere"), "nowhere", "rubrics run"),
        (("query", "SELECT 1", "--store", "nowhere"), "nowhere", "rubrics run"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_value_is_answered_in_one_line_that_names_it_and_the_remedy(
    rubrics: Command, tmp_path: Path, words: tuple[str, ...], value: str, remedy: str
) -> None:
    ran = rubrics(*words, cwd=tmp_path, code=2)
    said = [line for line in ran.err.splitlines() if line not in ("starting", "")]
    assert len(said) == 1, ran.err
    assert value in said[0]
    assert remedy in said[0]
    assert ran.out == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        *(
            ((*words, "--store", "nowhere"), "nowhere: no manifest.json here")
            for words in READING_A_STORE
        ),
        (("run", ".", "--author", "model"), "--author model asks a model"),
        (("run", ".", "--model", "m", "--extra", "a"), "--extra 'a'"),
        (("run", ".", "--judge", "single"), "--judge single asks a model"),
        (("score", "--judge", "agent"), "--judge agent asks a model"),
        (("rank",), "rank asks a model"),
        (("estimate",), "give --model NAME"),
        (("reward", "--config", "bad.toml"), "x: no such key"),
        (("run", "nowhere"), "nowhere: no such file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)  # fmt: skip
def test_what_can_be_refused_is_refused_before_anything_heavy_is_loaded(
    alone: Command, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    """A mistyped store took half a second, a missing model name a whole one: what does the work was loaded first."""
    (tmp_path / "bad.toml").write_text("x = 1")
    (tmp_path / "rubrics-store").mkdir()
    (tmp_path / "rubrics-store" / "manifest.json").write_text("{}")
    program = (
        "import sys\n"
        "from rubrics.cli.main import main\n"
        "sys.argv[0] = 'rubrics'\n"
        f"try:\n    main()\nfinally:\n    print([name for name in {HEAVY} if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *words], cwd=tmp_path, env=alone.environment(), capture_output=True,
        text=True, timeout=TIMEOUT, check=False
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert done.stdout == "[]\n"


def test_a_folder_that_is_no_store_is_not_written_to(rubrics: Command, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("precious")
    (tmp_path / "dump").mkdir()
    ran = rubrics("run", "dump", "--store", "thesis", cwd=tmp_path, code=2)
    assert "not empty and not a store" in ran.err
    assert [item.name for item in (tmp_path / "thesis").iterdir()] == ["chapter.txt"]


@pytest.mark.parametrize("words", [(), ("--tasks", "no-such-*")])
def test_a_run_that_scored_nothing_does_not_say_all_is_well(
    rubrics: Command, real: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "dump").mkdir()
    dump = real / "specs.jsonl" if not words else real / "mini-swe-agent"
    ran = rubrics("run", dump, *words, cwd=tmp_path, code=1)
    assert "no rollout" in ran.err


def test_a_query_writes_csv_and_parquet(rubrics: Command, scored: Path, tmp_path: Path) -> None:
    sql = "SELECT task_id, rollout_id, reward FROM rewards ORDER BY rollout_id"
    for name in ("r.csv", "r.parquet"):
        ran = rubrics("query", sql, "--store", scored, "--output", name, cwd=tmp_path, code=0)
        assert f"39 rows written to {name}" in ran.out
    wanted = [(row["task_id"], row["rollout_id"], row["reward"]) for row in rewards(scored)]
    with (tmp_path / "r.csv").open() as file:
        found = [(row["task_id"], row["rollout_id"], row["reward"]) for row in csv.DictReader(file)]
    assert [(task, rollout, float(value) if value else None) for task, rollout, value in found] == wanted
    assert [tuple(row.values()) for row in pq.read_table(tmp_path / "r.parquet").to_pylist()] == wanted
    ran = rubrics("query", sql, "--store", scored, "--json", cwd=tmp_path, code=0)
    assert [tuple(row.values()) for row in ran.json] == wanted


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("SELEC 1",), "query failed"),
        (("SELECT nothing FROM rewards",), "nothing"),
        (("SELECT * FROM read_csv('/etc/passwd')",), "query failed"),
        (("COPY rewards TO 'out.csv'",), "query"),
        (("SELECT 1", "--output", "r.xls"), "wanted .csv or .parquet"),
        (("SELECT 1", "--output", "no/such/folder/r.csv"), "no/such/folder"),
    ],
)
def test_a_query_that_cannot_be_answered_is_bad_usage(
    rubrics: Command, scored: Path, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    ran = rubrics("query", *words, "--store", scored, cwd=tmp_path, code=2)
    assert said in ran.err
    assert "Traceback" not in ran.err
    assert list(tmp_path.iterdir()) == []


def test_the_facts_are_described(rubrics: Command, tmp_path: Path) -> None:
    described = rubrics("facts", "--describe", "--json", cwd=tmp_path, code=0).json
    assert len(described) >= 60
    for fact in described:
        assert fact["type"] in ("int", "float", "bool", "text", "list")
        assert fact["unit"]
        assert len(fact["meaning"].split()) >= 3, fact
    assert {fact["name"] for fact in described} == set(vocabulary("solution")) | set(vocabulary("behavior"))
    table = rubrics("facts", "--describe", cwd=tmp_path, code=0).out
    assert all(fact["name"] in table for fact in described)


def test_status_says_what_the_store_holds(rubrics: Command, scored: Path, tmp_path: Path) -> None:
    held = {row["table"]: row for row in rubrics("status", "--store", scored, "--json", cwd=tmp_path, code=0).json}
    assert held["rollouts"]["rows"] == held["facts"]["rows"] == held["rewards"]["rows"] == 39
    assert held["rubrics"]["rows"] == 8


def test_clean_keeps_what_is_current(rubrics: Command, copied: Path) -> None:
    before = rewards(copied)
    assert len(rubrics("history", "--json", cwd=copied.parent, code=0).json) > 1
    rubrics("clean", cwd=copied.parent, code=0)
    assert len(rubrics("history", "--json", cwd=copied.parent, code=0).json) == 1
    assert rewards(copied) == before


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_command_has_help_with_what_it_does_and_takes(rubrics: Command, name: str, tmp_path: Path) -> None:
    said = rubrics(name, "--help", cwd=tmp_path, code=0).out
    assert said.startswith(f"Usage: rubrics {name}")
    assert "Options:" in said
    doc = cli.commands[name].get_short_help_str(200)
    assert len(doc) > 15
    assert doc.rstrip(".") in rubrics("--help", cwd=tmp_path, code=0).out.replace("\n", " ") or len(doc) > 60
