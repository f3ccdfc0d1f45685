"""Merging, ids, duplicates, groups and whose outcome is whose."""

from __future__ import annotations

from pathlib import Path

import pytest
from ingest_helpers import DIFF, native, prediction, read, trajectory, write, write_lines

from rubrics.errors import UsageError
from rubrics.ingest.read import ingest
from rubrics.records.census import CensusLine
from rubrics.records.identity import group_id_of

OTHER = DIFF.replace("+b", "+c")


def task(task_id: str = "t-1", spec: str = "fix") -> dict[str, str]:
    return {"kind": "task", "task_id": task_id, "spec": spec}


def test_a_prediction_with_the_patch_of_an_attempt_is_that_attempt(tmp_path: Path) -> None:
    write(tmp_path / "run/t-1/t-1.traj.json", trajectory())
    write(
        tmp_path / "run/preds.json", {"t-1": prediction("t-1", f"```diff\n\n{DIFF}\n```", model_name_or_path="other")}
    )
    found = read(tmp_path)
    assert found.rollout.policy == "p/m"
    assert found.count("merged") == 1


def test_a_prediction_with_another_patch_is_another_attempt(tmp_path: Path) -> None:
    write(tmp_path / "run/t-1/t-1.traj.json", trajectory())
    write(tmp_path / "run/preds.json", {"t-1": prediction("t-1", OTHER)})
    assert len(read(tmp_path).rollouts) == 2


def test_native_rollouts_without_transcript_are_never_merged(tmp_path: Path) -> None:
    rows = [native(patch=""), native(patch="", turns=None), native(patch="", turns=None)]
    assert len(read(write_lines(tmp_path / "d.jsonl", rows)).rollouts) == 3


def test_ids_do_not_depend_on_where_the_dump_lies(tmp_path: Path) -> None:
    for place in ("a/run", "b/c/run"):
        write(tmp_path / place / "t-1/t-1.traj.json", trajectory())
    assert read(tmp_path / "a").rollout.rollout_id == read(tmp_path / "b/c/run").rollout.rollout_id


def test_equal_attempts_of_one_dump_are_duplicates_and_keep_their_place_in_the_group(tmp_path: Path) -> None:
    found = read(write_lines(tmp_path / "d.jsonl", [native(), native(), native(patch=OTHER)]))
    first, second, third = found.rollouts
    assert [item.attempt for item in found.rollouts] == [0, 1, 2]
    assert (first.duplicate_of, second.duplicate_of, third.duplicate_of) == (None, first.rollout_id, None)
    assert len({item.group_id for item in found.rollouts}) == 1
    assert found.count("duplicate") == 1


def test_equal_attempts_of_two_runs_are_duplicates(tmp_path: Path) -> None:
    found = read(write_lines(tmp_path / "d.jsonl", [native(run="a"), native(run="b")]))
    assert found.count("duplicate") == 1


def test_the_same_dump_at_two_places_is_counted_once(tmp_path: Path) -> None:
    rows = [native(), native(), native(patch=OTHER)]
    first, second = (
        write_lines(tmp_path / "a/d.jsonl", rows),
        write_lines(tmp_path / "b/d.jsonl", [*rows, native(text="x")]),
    )
    found = read(first, second)
    assert len(found.rollouts) == 4
    assert found.count("repeated") == 3


def test_an_index_that_the_dump_gives_is_kept(tmp_path: Path) -> None:
    rows = [native(attempt=5), native(attempt=5), native(attempt=6)]
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    assert [item.attempt for item in found.rollouts] == [5, 6]
    assert found.count("repeated") == 1


def test_attempts_without_any_content_are_no_duplicates_of_each_other(tmp_path: Path) -> None:
    rows = [native(patch=None, turns=None), native(patch=None, turns=None)]
    assert read(write_lines(tmp_path / "d.jsonl", rows)).count("duplicate") == 0


@pytest.mark.parametrize(("group_by", "groups", "mixed"), [("task", 2, 1), ("task,policy", 3, 0)])
def test_groups_are_made_by_task_and_step_or_by_policy_too(
    tmp_path: Path, group_by: str, groups: int, mixed: int
) -> None:
    rows = [native(policy="a"), native(policy="b"), native(policy="a", policy_step=1)]
    found = read(write_lines(tmp_path / "d.jsonl", rows), group_by=group_by)
    assert len({item.group_id for item in found.rollouts}) == groups
    assert found.count("mixed_policies") == mixed


def test_the_dumps_own_group_id_wins(tmp_path: Path) -> None:
    found = read(write_lines(tmp_path / "d.jsonl", [native(group_id="g1"), native(group_id=2)]), group_by="task,policy")
    assert [item.source_group for item in found.rollouts] == ["g1", "2"]
    named = [group_id_of(item.task_id, item.source_group, None, item.policy) for item in found.rollouts]
    assert [item.group_id for item in found.rollouts] == named


def test_another_word_to_group_by_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'task,policy'"):
        read(write_lines(tmp_path / "d.jsonl", [native()]), group_by="run")


def test_a_task_row_given_twice_is_one_and_a_different_one_is_a_conflict(tmp_path: Path) -> None:
    rows = [task(), task(), task(spec="another"), native()]
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    assert [item.spec for item in found.records if hasattr(item, "spec")] == ["fix"]
    assert found.line("task_conflict").place == "t-1"
    assert found.count("no_task") == 0


def test_a_rollout_without_a_task_row_is_kept_and_counted_by_task(tmp_path: Path) -> None:
    found = read(write_lines(tmp_path / "d.jsonl", [native("a"), native("a"), native("b")]))
    assert len(found.rollouts) == 3
    assert [(line.place, line.count) for line in found.census if line.kind == "no_task"] == [("a", 2), ("b", 1)]


def test_an_exit_note_fills_a_gap_and_the_latest_one_counts(tmp_path: Path) -> None:
    write(tmp_path / "run/preds.json", [prediction("t-1"), prediction("t-2")])
    (tmp_path / "run/exit_statuses_1.yaml").write_text("instances_by_exit_status:\n  Timeout: [t-1, t-2, typo-1]\n")
    (tmp_path / "run/exit_statuses_2.yaml").write_text("instances_by_exit_status:\n  Submitted: [t-2]\n")
    found = read(tmp_path)
    assert [item.exit_status for item in found.rollouts] == ["Timeout", "Submitted"]
    assert [item.outcome for item in found.outcomes] == ["infra"]
    assert "typo-1" in found.line("exit_status_without_rollout").detail


def test_an_exit_note_does_not_overrule_the_attempts_own_status(tmp_path: Path) -> None:
    write(tmp_path / "run/t-1/t-1.traj.json", trajectory())
    (tmp_path / "run/exit_statuses_1.yaml").write_text("instances_by_exit_status:\n  Timeout: [t-1]\n")
    assert read(tmp_path).rollout.exit_status == "Submitted"


def test_an_unknown_exit_status_is_counted(tmp_path: Path) -> None:
    write(tmp_path / "run/t-1/t-1.traj.json", trajectory(status="WentHome"))
    found = read(tmp_path)
    assert not found.outcomes
    assert "WentHome" in found.line("exit_status_unknown").detail


def test_an_outcome_for_a_run_with_several_different_attempts_is_not_guessed(tmp_path: Path) -> None:
    rows = [native(attempt=0), native(attempt=1, patch=OTHER)]
    outcomes = write(tmp_path / "o.json", [{"task_id": "t-1", "run": "r", "resolved": True}])
    found = read(write_lines(tmp_path / "d.jsonl", rows), outcomes)
    assert not found.outcomes
    assert found.count("outcome_ambiguous") == 1
    named = write(tmp_path / "n.json", [{"task_id": "t-1", "run": "r", "resolved": True, "attempt": 1}])
    (outcome,) = read(tmp_path / "d.jsonl", named).outcomes
    assert outcome.rollout_id == read(tmp_path / "d.jsonl").rollouts[1].rollout_id


def test_sources_that_disagree_are_all_kept_and_counted(tmp_path: Path) -> None:
    preds = write_lines(tmp_path / "r.jsonl", [prediction()])
    rows = [{"task_id": "t-1", "run": "r", "resolved": resolved} for resolved in (True, False, True)]
    found = read(preds, write(tmp_path / "o.json", rows))
    assert [item.outcome for item in found.outcomes] == ["passed", "failed"]
    assert len({item.source for item in found.outcomes}) == 2
    assert found.count("disagreement") == 1


def test_outcome_rows_name_rollouts_of_their_own_dump_first(tmp_path: Path) -> None:
    for run, passed in (("a", True), ("b", False)):
        outcome = {"kind": "outcome", "task_id": "t-1", "rollout_id": "0", "resolved": passed}
        write_lines(tmp_path / f"{run}.jsonl", [native(run=run, rollout_id="0"), outcome])
    found = read(tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    runs = {item.rollout_id: item.run for item in found.rollouts}
    assert {runs[item.rollout_id]: item.outcome for item in found.outcomes} == {"a": "passed", "b": "failed"}


def test_attempts_with_a_transcript_are_passed_on_before_the_next_file_is_read(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a.traj.json", trajectory("a")), write(tmp_path / "b.traj.json", trajectory("b"))
    stream = ingest([first, second])
    assert getattr(next(stream), "task_id", None) == "a"
    second.unlink()
    kinds = [line.kind for line in stream if isinstance(line, CensusLine)]
    assert kinds == ["read_as", "unreadable", "no_task"]


def test_keys_of_rollouts_and_outcomes_are_unique(tmp_path: Path) -> None:
    rows = [native(), native(), native(exit_status="exit_cost"), task(), task()]
    rows += [
        {"kind": "outcome", "task_id": "t-1", "run": "r", "attempt": number, "resolved": True} for number in (0, 0, 1)
    ]
    found = read(write_lines(tmp_path / "a/d.jsonl", rows), write_lines(tmp_path / "b/d.jsonl", rows))
    ids = [item.rollout_id for item in found.rollouts]
    keys = [(item.rollout_id, item.source) for item in found.outcomes]
    lines = [(line.stage, line.subject, line.kind, line.place, line.detail) for line in found.census]
    assert len(ids) == len(set(ids)) == 3
    assert len(keys) == len(set(keys))
    assert len(lines) == len(set(lines))
