"""The same attempt in two files of a dump is one rollout, and attempts that differ are several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ingest_helpers import DIFF, native, prediction, read, trajectory, write, write_lines

OTHER = DIFF.replace("+b", "+c")
WITH_TESTS = DIFF + DIFF.replace("x.py", "test_x.py")


def result(task_id: str, patch: str = DIFF, **more: Any) -> dict[str, Any]:
    """A result of aider's benchmark."""
    return {
        "instance_id": task_id, "model_name_or_path": "aider--m", "model_patch": patch, "tries": 1, "cost": 0.5,
        "gold_files": ["answer.py"], "edited_files": ["x.py"], "all_results": [{}], **more,
    }  # fmt: skip


def write_aider(run: Path, task_id: str, patch: str = DIFF, *, chat: bool = True, **more: Any) -> None:
    write(run / f"{task_id}.json", result(task_id, patch, **more))
    if chat:
        (run / f"{task_id}.md").write_text(
            "# aider chat started at 2024-05-01 10:00:00\n\n#### fix it  \n\nI changed it.\n\n> Applied edit  \n"
        )


def test_300_attempts_whose_predictions_lost_their_test_edits_stay_300(tmp_path: Path) -> None:
    """Predictions without the edits of tests made 338 rollouts of 300 attempts, and 31 outcomes were ambiguous."""
    run, tasks = tmp_path / "lite-1", [f"o__r-{number}" for number in range(300)]
    edited, without_chat = set(tasks[:38]), set(tasks[30:60])
    for task in tasks:
        write_aider(run, task, WITH_TESTS if task in edited else DIFF, chat=task not in without_chat)
    write_lines(run / "all_preds.jsonl", [prediction(task, model_name_or_path="aider--m") for task in tasks])
    write(run / "aider--m.lite-1.json", {"schema_version": 2, "resolved_ids": tasks[:79], "unresolved_ids": tasks[79:]})
    found = read(tmp_path)
    assert len(found.rollouts) == 300
    assert (found.count("patch_differs"), found.count("merged")) == (38, 262)
    assert all(item.patch == WITH_TESTS for item in found.rollouts if item.task_id in edited)
    assert sum(item.turns is not None for item in found.rollouts) == 270
    passed = {task for (task, _, _), said in found.chosen.items() if said == "passed"}
    assert passed == set(tasks[:79])
    assert found.count("outcome_ambiguous") == found.count("outcome_without_rollout") == 0


def test_a_report_of_the_predictions_patch_is_the_attempts(tmp_path: Path) -> None:
    write_aider(tmp_path / "run", "t-1", WITH_TESTS)
    write(tmp_path / "run/all_preds.jsonl", prediction("t-1", model_name_or_path="aider--m"))
    write(tmp_path / "run/logs/t-1/report.json", {"t-1": {"patch_exists": True, "resolved": True}})
    (tmp_path / "run/logs/t-1/patch.diff").write_text(DIFF)
    assert read(tmp_path).chosen == {("t-1", "run", 0): "passed"}


@pytest.mark.parametrize("missing", ["md", "json", None])
def test_an_attempt_of_which_a_file_is_missing_counts_once(tmp_path: Path, missing: str | None) -> None:
    write_aider(tmp_path / "run", "t-1")
    write_lines(tmp_path / "run/all_preds.jsonl", [prediction("t-1", model_name_or_path="aider--m")])
    if missing is not None:
        (tmp_path / f"run/t-1.{missing}").unlink()
    rollout = read(tmp_path).rollout
    assert (rollout.patch, rollout.policy) == (DIFF, "aider--m")
    assert (rollout.turns is None) == (missing == "md")


def test_a_chat_beside_another_json_file_is_not_lost(tmp_path: Path) -> None:
    write_aider(tmp_path / "run", "t-1")
    write(tmp_path / "run/t-1.json", {"notes": 1})
    found = read(tmp_path)
    assert found.rollout.turns is not None
    assert found.count("not_recognised") == 1


def test_a_name_that_other_predictions_show_to_mean_the_same_is_the_same_policy(tmp_path: Path) -> None:
    for task, patch in (("t-1", DIFF), ("t-2", WITH_TESTS)):
        write(tmp_path / f"run/{task}/{task}.traj.json", trajectory(task, patch))
    write(
        tmp_path / "run/preds.json",
        [prediction(task, DIFF, model_name_or_path="Shown name") for task in ("t-1", "t-2")],
    )
    found = read(tmp_path)
    assert [(item.task_id, item.patch) for item in found.rollouts] == [("t-1", DIFF), ("t-2", WITH_TESTS)]
    assert (found.count("merged"), found.count("patch_differs")) == (1, 1)


def test_the_predictions_of_two_policies_in_one_run_are_two_attempts_with_one_patch(tmp_path: Path) -> None:
    write(tmp_path / "run/t-1/t-1.traj.json", trajectory())
    rows = [prediction("t-1", model_name_or_path="p/m"), prediction("t-1", model_name_or_path="q")]
    write_lines(tmp_path / "run/all_preds.jsonl", rows)
    assert {item.policy for item in read(tmp_path).rollouts} == {"p/m", "q"}


def test_predictions_written_twice_are_counted_once_and_several_in_one_file_are_several(tmp_path: Path) -> None:
    rows = [prediction("t-1"), prediction("t-1"), prediction("t-2")]
    write_lines(tmp_path / "run/all_preds.jsonl", rows)
    write(tmp_path / "run/preds.json", rows[::-1])
    found = read(tmp_path)
    assert [(item.task_id, item.attempt) for item in found.rollouts] == [("t-1", 0), ("t-1", 1), ("t-2", 0)]
    assert found.count("repeated") == 3


def test_equal_predictions_of_two_runs_with_one_name_stay_two(tmp_path: Path) -> None:
    for seed in ("a", "b"):
        write(tmp_path / seed / "night/preds.json", [prediction()])
    assert len(read(tmp_path).rollouts) == 2


def test_a_prediction_names_its_attempt_by_index(tmp_path: Path) -> None:
    run = tmp_path / "night"
    rows = [
        native(
            run="night", attempt=number, patch=f"{DIFF}+{number}\n", turns=[{"role": "assistant", "text": str(number)}]
        )
        for number in range(3)
    ]
    write_lines(tmp_path / "rollouts.jsonl", rows)
    write_lines(run / "preds.jsonl", [prediction("t-1", f"{DIFF}+x{number}\n", attempt=number) for number in range(3)])
    found = read(tmp_path)
    assert len(found.rollouts) == 3
    assert found.count("patch_differs") == 3


def test_more_changed_predictions_than_attempts_are_attempts_of_their_own(tmp_path: Path) -> None:
    write(tmp_path / "run/t-1/t-1.traj.json", trajectory(patch=WITH_TESTS))
    rows = [prediction("t-1", f"{DIFF}+{number}\n", model_name_or_path="p/m") for number in range(2)]
    write_lines(tmp_path / "run/preds.jsonl", rows)
    assert len(read(tmp_path).rollouts) == 3
    write_lines(tmp_path / "run/preds.jsonl", rows[:1])
    assert len(read(tmp_path).rollouts) == 1


def test_an_attempts_patch_that_is_not_known_is_filled_from_its_only_prediction(tmp_path: Path) -> None:
    document = trajectory()
    del document["info"]["submission"]
    document["messages"].pop()
    write(tmp_path / "run/t-1/t-1.traj.json", document)
    write(tmp_path / "run/preds.json", [prediction("t-1", OTHER, model_name_or_path="p/m")])
    assert read(tmp_path).rollout.patch == OTHER


def test_what_a_result_says_beyond_the_record_is_kept_but_for_the_answer_and_claims(tmp_path: Path) -> None:
    write_aider(tmp_path / "run", "t-1", resolved=True, gold_patch=DIFF)
    found = read(tmp_path)
    assert found.rollout.extra == '{"cost":0.5,"edited_files":["x.py"],"tries":1}'
    assert "answer.py" not in repr(found.records)
    assert found.count("sealed_beside_attempt") == 1
