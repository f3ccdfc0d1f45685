"""Dumps that are broken or meant to harm: the run goes on, the census has the reason, nothing leaves the store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Command, rewards, rows

IDS = (
    "../../escaped", "/absolute", "..", ".hidden", "a" * 5000, "with:colon@at+plus and blanks", "new\nline", "tab\t",
    "-rf", "ünïcödé", "quote'\"", "nul\x00", "con.solution", "%2e%2e", "*", "$(touch escaped)", " ", "\ud800",
)  # fmt: skip
PATCH = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n import os\n+import {0}\n"


@pytest.fixture(scope="module")
def done(rubrics: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a run over hostile dumps has ended; the store is `in/the/store`."""
    folder = tmp_path_factory.mktemp("hostile-dumps")
    dump = folder / "dump"
    dump.mkdir()
    lines = []
    for task in IDS:
        for number, outcome in enumerate(("passed", "passed", "failed")):
            own = {"task_id": task, "run": f"r{number}", "policy": "p"}
            turns = [{"role": "user", "text": "do"}, {"role": "assistant", "text": f"done {number}"}]
            lines += [{"kind": "rollout", "patch": PATCH.format(f"m{number}"), "turns": turns, **own},
                      {"kind": "outcome", "outcome": outcome, **own}]  # fmt: skip
    (dump / "rows.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    whole = json.dumps({"instance_id": "t", "model_patch": PATCH, "model_name_or_path": "m"}, indent=1)
    (dump / "truncated.json").write_text(whole[:60])
    (dump / "empty.json").write_bytes(b"")
    (dump / "latin.json").write_bytes(whole.replace("import", "é").encode("latin-1"))
    with (dump / "huge.json").open("wb") as huge:
        huge.write(b"[")
        for _ in range(100):
            huge.write(b'{"x": "' + b"y" * (1 << 20) + b'"},')
    (dump / "binary.bin").write_bytes(bytes(range(256)) * 100)
    (dump / "out").symlink_to("/etc")
    rubrics("run", "dump", "--store", "in/the/store", cwd=folder, code=1)  # nobody says how latin.json's attempt ended
    return folder


def test_every_rollout_of_a_strange_task_is_scored(done: Path) -> None:
    found = [row for row in rewards(done / "in/the/store") if row["task_id"] != "t"]
    assert len({row["task_id"] for row in found}) == len(IDS) - 1  # a blank is no name
    assert all(row["reward"] is not None for row in found)


def test_files_that_cannot_be_read_are_in_the_census_with_place_and_reason(done: Path) -> None:
    census = rows(done / "in/the/store", "FROM census WHERE subject = 'file' AND kind <> 'read_as'")
    said = {row["kind"]: f"{row['place']} {row['detail']}" for row in census}
    assert "truncated.json" in said["truncated"]
    assert "huge.json" in said["truncated"]
    assert said["empty"].startswith("empty.json")
    assert said["not_recognised"].startswith("binary.bin")
    assert said["unsafe_path"].startswith("out"), "the link that leaves the dump"
    assert all(row["detail"] for row in census)


def test_rubric_files_and_everything_else_stay_inside_the_store(done: Path) -> None:
    assert {item.name for item in done.iterdir()} == {"dump", "in"}
    assert {item.name for item in (done / "in" / "the").iterdir()} == {"store"}
    store = done / "in/the/store"
    tops = {item.name for item in store.iterdir()}
    assert tops == {"manifest.json", "views.sql", "report.html", "rubrics", "tables", "history", "files", ".lock"}
    files = list((store / "rubrics").iterdir())
    tasks = {row["task_id"] for row in rewards(store)} - {"t"}
    assert len(files) == 2 * len(tasks)
    assert all(item.is_file() and len(item.name.encode()) <= 200 and item.name.isprintable() for item in files)
    assert not any(Path(place).exists() for place in ("/absolute", "/escaped"))


def test_scoring_reads_the_same_files_again(rubrics: Command, done: Path) -> None:
    store = done / "in/the/store"
    before = rewards(store)
    rubrics("score", "--store", store, cwd=done, code=0)
    rubrics("reward", "--store", store, cwd=done, code=1)
    assert rewards(store) == before
    assert not rows(store, "FROM rubrics WHERE author <> 'builtin'")
