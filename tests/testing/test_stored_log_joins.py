"""A stored log is the outcome of the attempt whose patch it tested, or of none; what differs is always counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from log_helpers import log

from rubrics.stages.ingest import Ingest
from rubrics.stages.options import Options
from rubrics.stages.stage import drive, run_here
from rubrics.stages.stored_logs import StoredLogs
from rubrics.store.store import Store

PATCH = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+{}\n"
TASK = {
    "kind": "task", "task_id": "acme__w-1", "fail_to_pass": ["test_kinds.py::test_plain"],
    "pass_to_pass": ["test_kinds.py::TestBox::test_inside"],
}  # fmt: skip
PASSED = log("pytest-8.4-rA")
FAILED = PASSED.replace("PASSED test_kinds.py::test_plain\n", "").replace("30 passed", "29 passed")
FAILED = FAILED.replace("7 failed", "8 failed")
FAILED = FAILED.replace("FAILED sub", "FAILED test_kinds.py::test_plain\nFAILED sub", 1)


def rollout(run: str = "night-1", patch: str | None = PATCH.format("b"), **more: Any) -> dict[str, Any]:
    return {"kind": "rollout", "task_id": "acme__w-1", "run": run, "policy": "m", "patch": patch, **more}


def store_of(root: Path, *rows: dict[str, Any]) -> Store:
    dump = root / "rows.jsonl"
    dump.write_text("".join(json.dumps(row) + "\n" for row in (TASK, *rows)), "utf-8")
    store = Store.create(root / "store")
    drive(Ingest(store, Options(str(store.paths.root), dumps=(str(dump),))), store, run_here, 1)
    return store


def lay(
    root: Path, text: str, patch: str | None = PATCH.format("b"), folders: str = "night-1/eval", task: str = "acme__w-1"
) -> None:
    folder = root / "logs" / folders / task
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_output.txt").write_text(text, "utf-8")
    if patch is not None:
        (folder / "patch.diff").write_text(patch, "utf-8")


def read(store: Store, root: Path) -> dict[str, list[str]]:
    """Outcomes of logs by run, and the kinds of the census of this stage."""
    drive(StoredLogs(store, Options(str(store.paths.root), from_logs=(str(root / "logs"),))), store, run_here, 1)
    rows = store.query(
        "SELECT run, outcome FROM outcomes JOIN rollouts USING (rollout_id) WHERE detail LIKE 'log: %' ORDER BY ALL"
    ).to_pylist()
    census = store.query("SELECT kind FROM census WHERE stage = 'test' ORDER BY ALL").to_pylist()
    found: dict[str, list[str]] = {"census": [row["kind"] for row in census]}
    for row in rows:
        found.setdefault(row["run"], []).append(row["outcome"])
    return found


def test_a_log_of_the_tested_patch_is_its_attempts_outcome(tmp_path: Path) -> None:
    store = store_of(tmp_path, rollout(), rollout(patch=PATCH.format("c")))
    lay(tmp_path, PASSED, f"{PATCH.format('b')}\n")
    assert read(store, tmp_path) == {"night-1": ["passed"], "census": []}
    rows = store.query("SELECT patch FROM rollouts JOIN outcomes USING (rollout_id)").to_pylist()
    assert [row["patch"] for row in rows] == [PATCH.format("b")]


def test_an_outcome_of_a_log_is_of_its_task_also_where_the_tasks_name_has_a_comma(tmp_path: Path) -> None:
    """The task was read out of a sentence, up to its first comma: the outcome was another task's."""
    task = "acme__w-1, run 2"
    store = store_of(tmp_path, {**TASK, "task_id": task}, rollout(task_id=task), rollout())
    lay(tmp_path, PASSED, task=task)
    assert read(store, tmp_path) == {"night-1": ["passed"], "census": []}
    assert [row["task_id"] for row in store.rows("outcomes")] == [task]


def test_a_log_of_another_patch_is_nobodys(tmp_path: Path) -> None:
    """The only attempt of a run had the log, whatever patch was tested."""
    store = store_of(tmp_path, rollout())
    lay(tmp_path, PASSED, PATCH.format("z"))
    assert read(store, tmp_path) == {"census": ["other_patch"]}


def test_a_log_without_a_patch_is_nobodys_where_several_could_have_it(tmp_path: Path) -> None:
    store = store_of(tmp_path, rollout(), rollout(patch=PATCH.format("c")), rollout("night-2"))
    lay(tmp_path, PASSED, None)
    lay(tmp_path, PASSED, None, "night-2/eval")
    lay(tmp_path, PASSED, None, "night-3/eval")
    assert read(store, tmp_path) == {"night-2": ["passed"], "census": ["log_ambiguous", "no_owner"]}


def test_attempts_of_one_state_share_its_log(tmp_path: Path) -> None:
    store = store_of(tmp_path, rollout(), rollout())
    lay(tmp_path, PASSED)
    assert read(store, tmp_path) == {"night-1": ["passed", "passed"], "census": []}


def test_a_log_in_another_models_folder_is_not_this_models(tmp_path: Path) -> None:
    store = store_of(tmp_path, rollout(policy="org/m"))
    lay(tmp_path, PASSED, folders="run_evaluation/night-1/other")
    assert read(store, tmp_path) == {"census": ["no_owner"]}
    lay(tmp_path, PASSED, folders="run_evaluation/night-1/org__m")
    assert read(store, tmp_path) == {"night-1": ["passed"], "census": ["no_owner"]}


def test_a_log_that_differs_from_what_the_harness_reported_is_a_disagreement(tmp_path: Path) -> None:
    """Nothing said that 19 reports and logs of one attempt differed."""
    said = {"kind": "outcome", "task_id": "acme__w-1", "run": "night-1", "outcome": "passed", "source": "harness:x"}
    store = store_of(tmp_path, rollout(), said)
    lay(tmp_path, FAILED)
    assert read(store, tmp_path) == {"night-1": ["failed"], "census": ["disagreement"]}
    chosen = store.query("SELECT outcome FROM chosen_outcomes").to_pylist()
    assert chosen == [{"outcome": "failed"}], "a pass must be undisputed"
    assert read(store, tmp_path)["census"] == ["disagreement"], "the same command again says the same"
    lay(tmp_path, PASSED)
    assert read(store, tmp_path) == {"night-1": ["passed"], "census": []}


def test_logs_that_say_nothing_are_counted_by_class_and_leave_the_report_standing(tmp_path: Path) -> None:
    said = [
        {"kind": "outcome", "task_id": "acme__w-1", "run": run, "outcome": "passed", "source": f"harness:{run}"}
        for run in ("night-1", "night-2", "night-3")
    ]
    store = store_of(tmp_path, rollout(), rollout("night-2"), rollout("night-3"), *said)
    lay(tmp_path, log("pytest-8.4-dots").replace("test_kinds.py::test_plain", "x"))
    lay(tmp_path, "bash: line 1: pytest: command not found\n", folders="night-2/eval")
    lay(tmp_path, PASSED[:-300], folders="night-3/eval")
    found = read(store, tmp_path)
    assert found == {
        "night-1": ["unknown"], "night-2": ["infra"], "night-3": ["unknown"],
        "census": ["no_results", "not_closed", "runner_missing"],
    }  # fmt: skip
    assert {row["outcome"] for row in store.query("SELECT outcome FROM chosen_outcomes").to_pylist()} == {"passed"}
    rows = store.query("SELECT place FROM census WHERE kind = 'runner_missing'").to_pylist()
    assert rows == [{"place": "acme__w-1"}], "a runner that is missing is the task's, not one attempt's"
