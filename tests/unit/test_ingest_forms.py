"""Each form that is read, recognised by its content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ingest_helpers import DIFF, native, prediction, read, trajectory, write, write_lines

from rubrics.ingest.documents import digest_of
from rubrics.records.tasks import SealedTask, Task

ROW = {
    "instance_id": "o__r-1", "repo": "o/r", "base_commit": "abc", "problem_statement": "fix it", "patch": "GOLD",
    "test_patch": "HIDDEN", "hints_text": "HINT", "FAIL_TO_PASS": '["a.py::t[x y]", "[100%]"]', "PASS_TO_PASS": [],
    "image_name": "img",
}  # fmt: skip


def store_task(path: Path, how: str) -> Path:
    if how == "parquet":
        pq.write_table(pa.Table.from_pylist([ROW]), path)
    elif how == "lines":
        write_lines(path, [ROW])
    else:
        write(path, [ROW] if how == "list" else ROW)
    return path


@pytest.mark.parametrize("how", ["lines", "list", "object", "parquet"])
def test_task_rows_are_read_and_what_gives_the_answer_away_is_sealed(tmp_path: Path, how: str) -> None:
    task, sealed = read(store_task(tmp_path / "any.name", how)).records[:2]
    assert isinstance(task, Task)
    assert (task.task_id, task.spec, task.image) == ("o__r-1", "fix it", "img")
    assert (task.fail_to_pass, task.pass_to_pass) == (("a.py::t[x y]", "[100%]"), ())
    assert isinstance(sealed, SealedTask)
    assert sealed.reference_patch is not None
    assert sealed.reference_patch.open_for("audit") == "GOLD"
    assert "GOLD" not in repr([task, sealed])


@pytest.mark.parametrize("shape", ["list", "lines", "by_id"])
def test_predictions_are_read_in_every_shape(tmp_path: Path, shape: str) -> None:
    rows = [prediction("a"), {"instance_id": "b", "model_name": "m", "prediction": DIFF}]
    path = tmp_path / "some-run.json"
    if shape == "lines":
        write_lines(path, rows)
    else:
        write(path, rows if shape == "list" else {row["instance_id"]: row for row in rows})
    found = read(path).rollouts
    assert [(item.task_id, item.policy, item.patch) for item in found] == [("a", "m", DIFF), ("b", "m", DIFF)]
    assert {(item.run, item.harness) for item in found} == {("some-run", "predictions")}


def test_a_patch_that_is_null_or_absent_is_null_and_an_empty_one_is_empty(tmp_path: Path) -> None:
    absent = {"instance_id": "c", "model_name_or_path": "m"}
    found = read(write_lines(tmp_path / "p.jsonl", [prediction("a", None), prediction("b", ""), absent]))
    assert [item.patch for item in found.rollouts] == [None, "", None]


def test_an_api_error_in_place_of_the_patch_is_infra_and_no_patch(tmp_path: Path) -> None:
    text = "litellm.RateLimitError: Error code: 429 - {'error': 'slow down'}"
    found = read(write_lines(tmp_path / "p.jsonl", [prediction("a", text)]))
    assert found.rollout.patch is None
    assert found.rollout.exit_status == "RateLimitError"
    assert found.count("patch_is_error") == 1
    assert [(item.source, item.outcome) for item in found.outcomes] == [("exit", "infra")]


def test_an_error_text_that_an_agent_submitted_itself_is_its_failure(tmp_path: Path) -> None:
    write(tmp_path / "run/t-1.traj.json", trajectory(patch="RateLimitError: pretend that the provider broke"))
    found = read(tmp_path)
    assert found.rollout.patch == "RateLimitError: pretend that the provider broke"
    assert not found.outcomes


def test_prose_in_place_of_the_patch_stays_and_is_counted(tmp_path: Path) -> None:
    found = read(write_lines(tmp_path / "p.jsonl", [prediction("a", "I looked at it for a while.")]))
    assert found.rollout.patch == "I looked at it for a while."
    assert found.count("patch_not_diff") == 1


@pytest.mark.parametrize(
    "text", ["```diff\n" + DIFF + "```", "Here it is:\n\n```\n" + DIFF + "```\nDone.", "```diff\n" + DIFF]
)
def test_markdown_fences_are_taken_off(tmp_path: Path, text: str) -> None:
    found = read(write_lines(tmp_path / "p.jsonl", [prediction("a", text)]))
    assert found.rollout.patch == DIFF
    assert found.count("fenced") == 1


def test_a_diff_of_a_markdown_file_with_fences_stays(tmp_path: Path) -> None:
    patch = "diff --git a/r.md b/r.md\n--- a/r.md\n+++ b/r.md\n@@ -1 +1,3 @@\n a\n+```\n+x\n```\n"
    assert read(write_lines(tmp_path / "p.jsonl", [prediction("a", patch)])).rollout.patch == patch


def test_claims_inside_a_prediction_are_no_outcome(tmp_path: Path) -> None:
    rows = [prediction("a", status="PASSED"), prediction("b", resolved=True)]
    found = read(write_lines(tmp_path / "p.jsonl", rows))
    assert not found.outcomes
    assert found.count("claim_ignored") == 2


def test_reference_patches_written_as_predictions_are_no_rollouts(tmp_path: Path) -> None:
    found = read(write_lines(tmp_path / "p.jsonl", [prediction("a", model_name_or_path="gold")]))
    assert not found.rollouts
    assert found.count("sealed_beside_attempt") == 1


def harness_folder(root: Path, folder: str, *, patch: str = DIFF, **result: Any) -> None:
    report = {
        "resolved": True,
        "patch_exists": True,
        "tests_status": {"FAIL_TO_PASS": {"success": ["t1"], "failure": []}},
    }
    write(root / folder / "report.json", {Path(folder).name: {**report, **result}})
    (root / folder / "test_output.txt").write_text("HIDDEN LOG")
    (root / folder / "eval.sh").write_text("HIDDEN TESTS")
    (root / folder / "patch.diff").write_text(patch)


def test_a_harness_folder_beside_its_run_is_joined_by_run_and_task(tmp_path: Path) -> None:
    write(tmp_path / "run1/t-1/t-1.traj.json", trajectory())
    harness_folder(tmp_path, "run1/eval/t-1", patch=DIFF.replace("\n", " \r\n"))
    found = read(tmp_path)
    (outcome,) = found.outcomes
    assert (outcome.rollout_id, outcome.outcome) == (found.rollout.rollout_id, "passed")
    assert outcome.source == "harness:run1/eval/t-1/report.json"
    assert outcome.tests == '{"t1":"passed"}'
    assert outcome.log_digest == digest_of(tmp_path / "run1/eval/t-1/test_output.txt")
    assert found.count("sealed_beside_attempt") == 2
    assert "HIDDEN" not in repr(found.records)


def test_run_evaluation_folders_name_run_and_policy(tmp_path: Path) -> None:
    rows = [prediction("t-1", model_name_or_path="org/a"), prediction("t-1", DIFF + "\n", model_name_or_path="org/b")]
    write_lines(tmp_path / "preds/night.jsonl", rows)
    harness_folder(tmp_path, "logs/run_evaluation/night/org__a/t-1")
    harness_folder(tmp_path, "logs/run_evaluation/night/org__b/t-1", resolved=False)
    found = read(tmp_path)
    policies = {item.rollout_id: item.policy for item in found.rollouts}
    assert {policies[item.rollout_id]: item.outcome for item in found.outcomes} == {
        "org/a": "passed",
        "org/b": "failed",
    }


def test_a_harness_run_of_another_name_is_joined_to_the_policys_only_run_and_counted(tmp_path: Path) -> None:
    write_lines(tmp_path / "p.jsonl", [prediction("t-1", model_name_or_path="org/a")])
    harness_folder(tmp_path, "logs/run_evaluation/validate/org__a/t-1")
    found = read(tmp_path)
    assert [item.outcome for item in found.outcomes] == ["passed"]
    assert found.count("joined_by_policy") == 1


def test_an_infra_failure_of_the_harness_is_no_failure_of_the_attempt(tmp_path: Path) -> None:
    write(tmp_path / "run1/preds.json", [prediction()])
    harness_folder(tmp_path, "run1/eval/t-1", resolved=False, infra_failure=True, infra_failure_reason="disk full")
    (outcome,) = read(tmp_path).outcomes
    assert (outcome.outcome, outcome.detail) == ("infra", "disk full")


def test_not_listed_is_not_failed_in_a_run_report(tmp_path: Path) -> None:
    write(tmp_path / "r/preds.json", [prediction(f"t-{n}", "" if n == 3 else DIFF) for n in range(6)])
    report = {
        "resolved_ids": ["t-0"], "unresolved_ids": ["t-1"], "error_ids": ["t-2"], "empty_patch_ids": ["t-3"],
        "infra_failure_ids": ["t-4"], "submitted_ids": [f"t-{number}" for number in range(5)],
    }  # fmt: skip
    write(tmp_path / "r/report.json", report)
    found = read(tmp_path)
    tasks = {item.rollout_id: item.task_id for item in found.rollouts}
    said = {tasks[item.rollout_id]: item.outcome for item in found.outcomes}
    assert said == {"t-0": "passed", "t-1": "failed", "t-2": "infra", "t-3": "failed", "t-4": "infra"}
    assert found.count("not_judged") == 0
    assert {item.detail for item in found.outcomes if item.outcome == "failed"} == {None, "no patch"}


def test_an_older_run_report_fails_what_was_applied_and_logged_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "r/preds.json", [prediction(f"t-{number}") for number in range(5)])
    report = {
        "resolved": ["t-0"], "applied": ["t-0", "t-1", "t-2", "t-3"], "with_logs": ["t-0", "t-1", "t-2"],
        "test_timeout": ["t-2"], "no_apply": [], "generated": ["t-0", "t-1", "t-2", "t-3", "t-4"],
    }  # fmt: skip
    write(tmp_path / "r/new_eval_results/report.json", report)
    found = read(tmp_path)
    tasks = {item.rollout_id: item.task_id for item in found.rollouts}
    said = {tasks[item.rollout_id]: item.outcome for item in found.outcomes}
    assert said == {"t-0": "passed", "t-1": "failed", "t-2": "infra"}
    assert found.count("not_judged") == 2


def test_a_current_run_report_is_named_by_policy_and_run(tmp_path: Path) -> None:
    write_lines(tmp_path / "night.jsonl", [prediction("t-1", model_name_or_path="org/a")])
    write(tmp_path / "org__a.night.json", {"schema_version": 2, "resolved_ids": ["t-1"], "unresolved_ids": []})
    assert [item.outcome for item in read(tmp_path).outcomes] == ["passed"]


def nested(**more: Any) -> dict[str, Any]:
    return {"t-1": {"r": {"resolved": False, "f2p_fail": ["a"], "p2p_fail": [], **more}}}


@pytest.mark.parametrize(
    ("name", "text", "outcome"),
    [
        ("o.json", json.dumps(nested()), "failed"),
        ("o.json", json.dumps({"t-1": {"r": 1}}), "passed"),
        ("o.json", json.dumps({"t-1": {"r": None}}), "unknown"),
        ("o.json", json.dumps({"r": {"t__t-1": 1}}), None),
        ("o.json", json.dumps([{"task_id": "t-1", "run": "r", "resolved": "true"}]), "passed"),
        ("o.jsonl", json.dumps({"task_id": "t-1", "run": "r", "resolved": 0, "attempt": 0}), "failed"),
        ("o.csv", "task_id,run,resolved\nt-1,r,True\n", "passed"),
        ("o.csv", "\ufeffresolved,instance_id,run,policy\r\n0,t-1,r,m\r\n", "failed"),
        ("o.csv", "task_id,run,resolved\nt-1,r,\n", "unknown"),
    ],
)
def test_outcome_files_are_read_in_every_form(tmp_path: Path, name: str, text: str, outcome: str | None) -> None:
    preds = write_lines(tmp_path / "a/r.jsonl", [prediction("t-1")])
    file = tmp_path / "b" / name
    file.parent.mkdir()
    file.write_text(text, newline="")
    found = read(preds, file)
    assert [item.outcome for item in found.outcomes] == ([outcome] if outcome else [])
    assert all(item.source == f"file:{digest_of(file)}" for item in found.outcomes)


def test_failing_tests_of_an_outcome_file_are_kept(tmp_path: Path) -> None:
    preds = write_lines(tmp_path / "r.jsonl", [prediction("t-1")])
    (outcome,) = read(preds, write(tmp_path / "o.json", nested())).outcomes
    assert outcome.tests == '{"a":"failed"}'


def test_scores_by_run_and_then_task_are_turned_round(tmp_path: Path) -> None:
    preds = write_lines(tmp_path / "r.jsonl", [prediction("o__r-1"), prediction("o__r-2")])
    found = read(preds, write(tmp_path / "scored.json", {"r": {"o__r-1": 1, "o__r-2": 0}}))
    assert sorted(item.outcome for item in found.outcomes) == ["failed", "passed"]


def test_a_run_without_a_rollout_is_a_census_line_and_reference_runs_are_left_out(tmp_path: Path) -> None:
    preds = write_lines(tmp_path / "r.jsonl", [prediction("t-1")])
    runs = {
        "r": {"resolved": True},
        "absent": {"resolved": True},
        "(gold)": {"resolved": True},
        "(empty)": {"resolved": 0},
    }
    found = read(preds, write(tmp_path / "o.json", {"t-1": runs}))
    assert len(found.rollouts) == len(found.outcomes) == 1
    assert found.count("outcome_without_rollout") == 1
    assert found.count("not_an_attempt") == 2


def test_a_row_with_a_strange_outcome_is_unknown_and_named(tmp_path: Path) -> None:
    preds = write_lines(tmp_path / "r.jsonl", [prediction("t-1"), prediction("t-2")])
    file = tmp_path / "o.csv"
    file.write_text("task_id,run,resolved\nt-1,r,perhaps\n\nt-2,r,true\n")
    found = read(preds, file)
    assert [item.outcome for item in found.outcomes] == ["unknown", "passed"]
    assert found.line("outcome_refused").place == "o.csv:line 2"


def test_native_rows_use_the_records_own_names(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"kind": "task", "task_id": "t-1", "spec": "fix", "fail_to_pass": ["a"], "reference_patch": "GOLD"},
        native(rollout_id="x", policy_step=3, attempt=7, group_id="g", input_tokens=5, exit_status="LimitsExceeded"),
        {"kind": "outcome", "task_id": "t-1", "rollout_id": "x", "outcome": "passed", "tests": {"a": "passed"}},
        {"kind": "outcome", "task_id": "t-1", "run": "r", "attempt": 7, "resolved": True, "source": "harness:x"},
    ]
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    item = found.rollout
    assert (item.policy_step, item.attempt, item.source_group, item.source_id, item.input_tokens) == (3, 7, "g", "x", 5)
    assert (item.harness, item.source, item.n_turns) == ("native", "d.jsonl:line 2", 1)
    sources = {outcome.source.partition(":")[0]: outcome.outcome for outcome in found.outcomes}
    assert sources == {"exit": "truncated", "file": "passed", "harness": "passed"}


def test_native_chats_are_accepted_as_messages(tmp_path: Path) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    chat = [
        {"role": "developer", "content": "be brief"},
        {"role": "assistant", "content": "", "tool_calls": [call], "reasoning_content": "hm"},
        {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "a.py"}]},
    ]
    turns = read(write_lines(tmp_path / "d.jsonl", [native(turns=None, messages=chat)])).rollout.turns
    assert turns is not None
    assert [turn.role for turn in turns] == ["system", "assistant"]
    assert (turns[1].observation, turns[1].reasoning) == ("a.py", "hm")


@pytest.mark.parametrize("as_text", [True, False])
def test_native_parquet_gives_what_native_lines_give(tmp_path: Path, as_text: bool) -> None:
    turns = [{"role": "assistant", "text": "hi", "observation": "x", "exit_code": 0}]
    rows = [native("a", turns=turns, attempt=0), native("b", turns=turns, attempt=1, patch=None)]
    lines = read(write_lines(tmp_path / "d.jsonl", rows)).rollouts
    flat = [{**row, "turns": json.dumps(row["turns"])} for row in rows] if as_text else rows
    pq.write_table(pa.Table.from_pylist(flat), tmp_path / "d.parquet")
    assert [item.rollout_id for item in read(tmp_path / "d.parquet").rollouts] == [item.rollout_id for item in lines]


def test_a_broken_parquet_file_costs_itself(tmp_path: Path) -> None:
    (tmp_path / "d.parquet").write_bytes(b"PAR1 and nothing more")
    assert read(tmp_path).line("unreadable").place == "d.parquet:row 1"


def test_a_turn_with_a_tools_role_says_what_to_write_instead(tmp_path: Path) -> None:
    found = read(write_lines(tmp_path / "d.jsonl", [native(turns=[{"role": "tool", "text": "x"}])]))
    assert not found.rollouts
    assert "observation" in found.line("shape").detail


def test_files_of_no_form_are_named_and_ignored(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("[INFO] hello")
    write(tmp_path / "config.json", {"a": 1})
    write(tmp_path / "run/preds.json", [prediction()])
    (tmp_path / "run/developer_patch.diff").write_text("GOLD")
    found = read(tmp_path)
    assert len(found.rollouts) == 1
    line = found.line("not_recognised")
    assert (line.place, line.subject, line.count) == (".", "file", 2)
    assert all(name in line.detail for name in ("notes.txt", "config.json"))
    assert found.count("sealed_beside_attempt") == 1


def test_a_chat_that_no_agent_form_is_known_for_is_not_taken_for_an_attempt(tmp_path: Path) -> None:
    write(
        tmp_path / "conversation_round_1.json",
        [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}],
    )
    found = read(tmp_path)
    assert not found.rollouts
    assert found.count("not_recognised") == 1


def test_swe_agent_experiment_folders_give_one_rollout_an_instance(tmp_path: Path) -> None:
    traj = {"trajectory": [{"action": "ls", "observation": "a", "response": "x", "thought": ""}], "history": []}
    info = {"exit_status": "submitted (exit_cost)", "submission": DIFF}
    for task in ("t-1", "t-2"):
        write(tmp_path / f"exp/{task}/{task}.traj", {**traj, "info": info})
        write(tmp_path / f"exp/{task}/{task}.pred", prediction(task, "\n" + DIFF))
        (tmp_path / f"exp/{task}/{task}.info.log").write_text("log")
    write(tmp_path / "exp/preds.json", {task: prediction(task) for task in ("t-1", "t-2")})
    (tmp_path / "exp/run_batch_exit_statuses.yaml").write_text("instances_by_exit_status:\n  submitted: [t-1, t-2]\n")
    found = read(tmp_path)
    assert [(item.task_id, item.run, item.policy, item.harness) for item in found.rollouts] == [
        ("t-1", "exp", "m", "swe-agent"),
        ("t-2", "exp", "m", "swe-agent"),
    ]
    assert found.count("merged") == 4
    assert [item.outcome for item in found.outcomes] == ["truncated", "truncated"]


def test_the_examples_of_the_documentation_are_read_as_it_says(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "formats.md").read_text()
    rows, outcomes = [part.partition("```")[0] for part in page.split("```json\n")[1:]]
    decoder, position, values = json.JSONDecoder(), 0, []
    while position < len(rows):
        value, position = decoder.raw_decode(rows, position)
        values.append(value)
        position += 1
    nested_file, flat_file = tmp_path / "o.json", tmp_path / "o.csv"
    nested_file.write_text(outcomes)
    flat_file.write_text(page.split("```csv\n")[1].partition("```")[0])
    found = read(write_lines(tmp_path / "d.jsonl", values), nested_file, flat_file)
    assert [type(item).__name__ for item in found.records[:3]] == ["Task", "SealedTask", "Rollout"]
    assert found.rollout.n_turns == 1
    assert sorted(item.outcome for item in found.outcomes) == ["failed", "failed", "passed"]
    assert {line.kind for line in found.troubles} == {"outcome_without_rollout", "disagreement"}
