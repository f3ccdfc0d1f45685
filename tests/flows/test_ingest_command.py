"""`rubrics ingest` and what `rubrics run` says of its dumps: the exit code, and a loud line for each thing lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conftest import Command, rows

PATCH = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+{0}\n"


def write(path: Path, *values: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


def prediction(task: str, **more: Any) -> dict[str, Any]:
    return {"instance_id": task, "model_name_or_path": "m", "model_patch": PATCH.format("b"), **more}


def loud(err: str) -> list[str]:
    return [line for line in err.splitlines() if line.startswith("rubrics: ")]


def test_a_dump_that_is_read_has_exit_code_0_and_no_loud_line(rubrics: Command, tmp_path: Path) -> None:
    write(tmp_path / "night/preds.jsonl", prediction("t-1"))
    assert loud(rubrics("ingest", "night", cwd=tmp_path, code=0).err) == []


def test_a_dump_most_of_which_is_not_recognised_has_exit_code_1_and_says_so(rubrics: Command, tmp_path: Path) -> None:
    """A whole job of another harness gave 0 rollouts and exit code 0."""
    for name in ("result.json", "config.json", "trial/result.json", "trial/agent/trajectory.json"):
        write(tmp_path / "job" / name, {"schema_version": 1, "steps": []})
    (line,) = loud(rubrics("ingest", "job", cwd=tmp_path, code=1).err)
    assert line.startswith("rubrics: 4 of 4 files (100%) were not recognised: ")
    assert "docs/formats.md" in line
    assert "job/trial" not in line, "places are relative to the dump"
    assert "result.json" in line
    ran = rubrics("run", "job", "--store", "other", cwd=tmp_path, code=1)
    assert loud(ran.err)[-1] == line


def test_json_output_stays_one_object_beside_loud_lines(rubrics: Command, tmp_path: Path) -> None:
    write(tmp_path / "job/result.json", {"schema_version": 1})
    ran = rubrics("ingest", "job", "--json", cwd=tmp_path, code=1)
    assert ran.json["done"]["ingest"] == 0
    assert len(loud(ran.err)) == 1


def test_a_misspelt_column_is_named_on_the_terminal(rubrics: Command, tmp_path: Path) -> None:
    row = {"kind": "rollout", "task_id": "t-1", "run": "r", "policy": "m", "diff": PATCH.format("b")}
    write(tmp_path / "d.jsonl", row)
    (line,) = loud(rubrics("ingest", "d.jsonl", cwd=tmp_path, code=1).err)
    assert "`diff` is no column of a native rollout, `patch` is missing" in line


def test_a_harness_report_says_which_rollouts_it_could_not_find(rubrics: Command, tmp_path: Path) -> None:
    write(tmp_path / "night/preds.jsonl", prediction("t-1"))
    write(tmp_path / "m.night.json", {"schema_version": 2, "resolved_ids": ["t-1", "t-2", "t-3"]})
    (line,) = loud(rubrics("ingest", "night", "m.night.json", cwd=tmp_path, code=0).err)
    assert line.startswith("rubrics: 2 outcomes: run 'night': 't-2', 't-3': no rollout")


def test_what_publishers_measured_counts_when_asked_for(rubrics: Command, tmp_path: Path) -> None:
    write(tmp_path / "d.jsonl", prediction("t-1", resolved=True), prediction("t-2", reward=0.0))
    rubrics("ingest", "d.jsonl", cwd=tmp_path, code=0)
    assert rows(tmp_path / "rubrics-store", "FROM outcomes") == []
    rubrics("ingest", "d.jsonl", "--trust-recorded", cwd=tmp_path, code=0)
    found = rows(tmp_path / "rubrics-store", "SELECT task_id, source, outcome FROM outcomes ORDER BY task_id")
    assert [(row["task_id"], row["source"], row["outcome"]) for row in found] == [
        ("t-1", "recorded:predictions", "passed"), ("t-2", "recorded:predictions", "failed"),
    ]  # fmt: skip


def test_running_again_keeps_what_tests_said(rubrics: Command, tmp_path: Path) -> None:
    """run, test, run again: every test run was dropped."""
    tasks = write(
        tmp_path / "tasks.jsonl", {"kind": "task", "task_id": "t-1", "spec": "x", "fail_to_pass": ["t.py::a"]}
    )
    preds = write(tmp_path / "night/preds.jsonl", prediction("t-1"))
    log = tmp_path / "night/eval/t-1/test_output.txt"
    log.parent.mkdir(parents=True)
    log.write_text("t.py::a PASSED\n===== 1 passed in 0.01s =====\n")
    rubrics("ingest", tasks, preds, cwd=tmp_path, code=0)
    rubrics("test", "--from-logs", tmp_path / "night", cwd=tmp_path)
    before = rows(tmp_path / "rubrics-store", "SELECT rollout_id, source, outcome FROM outcomes")
    assert len(before) == 1
    rubrics("ingest", tasks, preds, cwd=tmp_path, code=0)
    assert rows(tmp_path / "rubrics-store", "SELECT rollout_id, source, outcome FROM outcomes") == before
