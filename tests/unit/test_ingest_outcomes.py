"""A recorded outcome is given to the attempt that it was made for, or to none; one fact has one answer."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from ingest_helpers import DIFF, native, prediction, read, trajectory, write, write_lines

from rubrics.ingest.read import ingest
from rubrics.records.census import CensusLine
from rubrics.records.identity import group_id_of
from rubrics.records.outcomes import Outcome

OTHER = DIFF.replace("+b", "+c")


def run_report(**lists: Any) -> dict[str, Any]:
    return {"schema_version": 2, **lists}


def instance_report(folder: Path, patch: str | None = None, task_id: str | None = None, **result: Any) -> None:
    name = task_id or folder.name
    write(folder / "report.json", {name: {"patch_exists": True, "resolved": True, "tests_status": {}, **result}})
    if patch is not None:
        (folder / "patch.diff").write_text(patch, newline="")


def outcome(task_id: str = "t-1", **more: Any) -> dict[str, Any]:
    return {"kind": "outcome", "task_id": task_id, **more}


# Whose outcome it is


def test_a_report_of_one_run_is_not_given_to_another_run_that_has_the_task(tmp_path: Path) -> None:
    """A report of night-2 was given to the attempt of night-1, because night-2 lacked that task: a false pass."""
    write(tmp_path / "night-1/preds.json", [prediction("t-1"), prediction("t-2")])
    write(tmp_path / "night-2/preds.json", [prediction("t-1", OTHER)])
    write(tmp_path / "m.night-2.json", run_report(resolved_ids=["t-1", "t-2"]))
    found = read(tmp_path)
    assert found.chosen == {("t-1", "night-1", 0): "unknown", ("t-2", "night-1", 0): "unknown",
                            ("t-1", "night-2", 0): "passed"}  # fmt: skip
    line = found.line("outcome_without_rollout")
    assert line.count == 1
    assert all(name in line.detail for name in ("'night-2'", "'t-2'", "'night-1'")), "it names both"


def test_the_found_case_of_a_misjoined_run_comes_out_right(real: Path) -> None:
    found = read(real.parent / "found" / "misjoined-run")
    assert found.chosen == {
        ("acme__w-1", "night-1", 0): "unknown", ("acme__w-2", "night-1", 0): "unknown",
        ("acme__w-3", "night-1", 0): "unknown", ("acme__w-1", "night-2", 0): "passed",
        ("acme__w-3", "night-2", 0): "failed",
    }  # fmt: skip
    assert "acme__w-2" in found.line("outcome_without_rollout").detail


def test_a_run_that_only_the_harness_names_is_the_policys_run_if_it_has_one_only(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [prediction("t-1")])
    write(tmp_path / "m.validate.json", run_report(resolved_ids=["t-1"]))
    assert read(tmp_path).chosen == {("t-1", "a", 0): "passed"}
    assert read(tmp_path).count("joined_by_policy") == 1
    write(tmp_path / "b.jsonl", [prediction("t-2")])
    found = read(tmp_path)
    assert set(found.chosen.values()) == {"unknown"}, "the policy has two runs, though one has the task"
    assert found.count("outcome_without_rollout") == 1


def test_two_folders_of_one_name_are_two_runs(tmp_path: Path) -> None:
    for seed, patch in (("seed-1", DIFF), ("seed-2", OTHER)):
        write(tmp_path / seed / "night/t-1/t-1.traj.json", trajectory(patch=patch))
        instance_report(tmp_path / seed / "night/eval/t-1", resolved=seed == "seed-1")
    write(tmp_path / "seed-2/night/t-2/t-2.traj.json", trajectory("t-2"))
    instance_report(tmp_path / "seed-1/night/eval/t-2")
    found = read(tmp_path)
    assert found.chosen == {
        ("t-1", "night", 0): "passed",
        ("t-1", "night", 1): "failed",
        ("t-2", "night", 0): "unknown",
    }
    assert found.count("outcome_without_rollout") == 1


def test_a_run_report_beside_the_folders_of_runs_is_found_by_its_name(tmp_path: Path) -> None:
    write(tmp_path / "runs/night/preds.json", [prediction()])
    write(tmp_path / "reports/m.night.json", run_report(resolved_ids=["t-1"]))
    assert read(tmp_path).chosen == {("t-1", "night", 0): "passed"}


def test_a_report_in_the_folder_of_another_task_is_given_to_neither(tmp_path: Path) -> None:
    write_lines(tmp_path / "night.jsonl", [prediction("t-1"), prediction("t-2")])
    instance_report(tmp_path / "logs/run_evaluation/night/m/t-1", task_id="t-2")
    found = read(tmp_path)
    assert set(found.chosen.values()) == {"unknown"}
    assert "'t-1'" in found.line("outcome_without_rollout").detail


@pytest.mark.parametrize("attempts", [1, 2])
def test_a_report_of_another_patch_is_not_given_to_the_attempt(tmp_path: Path, attempts: int) -> None:
    """A report was joined by run and task although the patch beside it was not the attempt's."""
    write(tmp_path / "run/preds.json", [prediction("t-1"), prediction("t-1", OTHER)][:attempts])
    instance_report(tmp_path / "run/eval/t-1", patch=DIFF.replace("+b", "+d"))
    found = read(tmp_path)
    assert set(found.chosen.values()) == {"unknown"}
    line = found.line("outcome_of_another_patch")
    assert "run/preds.json" in line.detail
    assert line.place == "run/eval/t-1/report.json"


@pytest.mark.parametrize(
    ("own", "tested"),
    [
        (DIFF, DIFF.replace("\n", "\r\n")),
        (DIFF.replace("\n", "\r\n"), DIFF),
        ("\n" + DIFF + "\n\n", DIFF),
        (DIFF.replace("@@\n", "@@\n \n"), DIFF.replace("@@\n", "@@\n\n")),
        (f"```diff\n{DIFF}```\n", f"```diff\n{DIFF}```\n"),
        (None, ""),
        ("", ""),
    ],
)
def test_the_tested_patch_may_be_written_otherwise(tmp_path: Path, own: str | None, tested: str) -> None:
    write(tmp_path / "run/preds.json", [prediction("t-1", own)])
    instance_report(tmp_path / "run/eval/t-1", patch=tested, resolved=False)
    assert read(tmp_path).chosen == {("t-1", "run", 0): "failed"}


def test_a_null_patch_was_not_tested_as_another_patch(tmp_path: Path) -> None:
    write(tmp_path / "run/preds.json", [prediction("t-1", None)])
    instance_report(tmp_path / "run/eval/t-1", patch=DIFF)
    assert read(tmp_path).chosen == {("t-1", "run", 0): "unknown"}


def test_a_patch_that_is_not_known_is_no_reason_against_a_report(tmp_path: Path) -> None:
    write_lines(tmp_path / "run/rollouts.jsonl", [native(patch=None, run=None)])
    instance_report(tmp_path / "run/eval/t-1", patch=DIFF)
    assert read(tmp_path).chosen == {("t-1", "run", 0): "passed"}


@pytest.mark.parametrize(
    "report", [{"resolved_ids": [], "empty_patch_ids": ["t-1"]}, {"resolved": [], "no_generation": ["t-1"]}]
)
def test_a_report_of_an_empty_patch_is_not_given_to_an_attempt_with_a_patch(tmp_path: Path, report: Any) -> None:
    write(tmp_path / "run/preds.json", [prediction("t-1")])
    write(tmp_path / "run/results.json", report)
    found = read(tmp_path)
    assert found.chosen == {("t-1", "run", 0): "unknown"}
    assert found.count("outcome_of_another_patch") == 1


@pytest.mark.parametrize("patch", [None, "", "  \n"])
def test_a_pass_by_the_harness_is_not_of_an_attempt_that_has_no_patch(tmp_path: Path, patch: str | None) -> None:
    write(tmp_path / "run/preds.json", [prediction("t-1", patch)])
    write(tmp_path / "run/results.json", {"resolved_ids": ["t-1"]})
    found = read(tmp_path)
    assert found.chosen == {("t-1", "run", 0): "unknown"}
    assert found.count("outcome_of_another_patch") == 1


def test_one_outcome_of_several_attempts_whose_patches_are_not_known_is_given_to_none(tmp_path: Path) -> None:
    """An outcome without `attempt` was given to all attempts of a run, because their patches were equally unknown."""
    rows = [native(patch=None, turns=[{"role": "assistant", "text": str(number)}]) for number in range(3)]
    found = read(write_lines(tmp_path / "d.jsonl", [*rows, outcome(run="r", resolved=True)]))
    assert set(found.chosen.values()) == {"unknown"}
    assert found.count("outcome_ambiguous") == 1


def test_an_outcome_of_several_attempts_with_one_patch_holds_for_all(tmp_path: Path) -> None:
    rows = [native(), native(), outcome(run="r", resolved=True)]
    assert set(read(write_lines(tmp_path / "d.jsonl", rows)).chosen.values()) == {"passed"}


@pytest.mark.parametrize("given", ["x", 7, 7.0])
def test_an_outcome_that_names_its_rollout_is_of_no_other(tmp_path: Path, given: object) -> None:
    """Ids that were numbers were dropped, and a wrong id fell back to the run: the outcome went to whatever stood
    there."""
    rows = [native(rollout_id=given), native(patch=OTHER, rollout_id="y")]
    known = read(write_lines(tmp_path / "d.jsonl", [*rows, outcome(rollout_id=given, resolved=True)]))
    assert known.chosen == {("t-1", "r", 0): "passed", ("t-1", "r", 1): "unknown"}
    absent = read(write_lines(tmp_path / "e.jsonl", [rows[0], outcome(rollout_id="z", run="r", resolved=True)]))
    assert absent.chosen == {("t-1", "r", 0): "unknown"}
    assert "'z'" in absent.line("outcome_without_rollout").detail


def test_what_an_outcome_says_beside_the_id_must_agree(tmp_path: Path) -> None:
    rollouts = [native(rollout_id="x", attempt=3)]
    for wrong in ({"run": "other"}, {"attempt": 4}, {"policy": "other"}, {"task_id": "t-2"}):
        rows = [*rollouts, outcome(rollout_id="x", resolved=True) | wrong]
        assert read(write_lines(tmp_path / "d.jsonl", rows)).chosen == {("t-1", "r", 3): "unknown"}, wrong
    rows = [*rollouts, outcome(rollout_id="x", resolved=True, run="r", attempt="3", policy="m")]
    assert read(write_lines(tmp_path / "d.jsonl", rows)).chosen == {("t-1", "r", 3): "passed"}


def test_an_id_that_two_rollouts_have_names_neither(tmp_path: Path) -> None:
    """Of two rollouts with one id the first was taken."""
    rows = [native(rollout_id="x"), native(rollout_id="x", patch=OTHER), outcome(rollout_id="x", resolved=True)]
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    assert set(found.chosen.values()) == {"unknown"}
    assert found.count("outcome_ambiguous") == 1


def test_an_id_of_two_other_dumps_names_neither(tmp_path: Path) -> None:
    first = write_lines(tmp_path / "a.jsonl", [native(run="a", rollout_id="x")])
    second = write_lines(tmp_path / "b.jsonl", [native(run="b", rollout_id="x", patch=OTHER)])
    third = write_lines(tmp_path / "o.jsonl", [outcome(rollout_id="x", resolved=True)])
    assert set(read(first, second, third).chosen.values()) == {"unknown"}


def test_an_outcome_may_name_the_rollout_id_of_the_store(tmp_path: Path) -> None:
    dump = write_lines(tmp_path / "d.jsonl", [native()])
    own = read(dump).rollout.rollout_id
    found = read(dump, write_lines(tmp_path / "o.jsonl", [outcome(rollout_id=own, resolved=True)]))
    assert found.chosen == {("t-1", "r", 0): "passed"}


@pytest.mark.parametrize("name", ["T-1", "t-1 ", " t-1", "t -1"])
def test_names_of_tasks_are_compared_exactly_and_near_ones_are_named(tmp_path: Path, name: str) -> None:
    rows = [{"kind": "task", "task_id": "t-1", "spec": "x"}, native(), native(name, patch=OTHER)]
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    assert "'t-1' has one" in found.line("no_task").detail
    rows = [native(), outcome(name, run="r", resolved=True)]
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    assert found.chosen == {("t-1", "r", 0): "unknown"}
    assert "'t-1'" in found.line("outcome_without_rollout").detail


def test_what_a_report_could_not_find_is_said_by_run_with_count_and_examples(tmp_path: Path) -> None:
    write(tmp_path / "night/preds.json", [prediction("t-0")])
    write(tmp_path / "m.night.json", run_report(resolved_ids=[f"t-{number}" for number in range(20)]))
    write(tmp_path / "m.day.json", run_report(unresolved_ids=["t-0"], resolved_ids=["t-9"]))
    lines = {
        line.detail.split(":")[0]: line for line in read(tmp_path).census if line.kind == "outcome_without_rollout"
    }
    assert {run: line.count for run, line in lines.items()} == {"run 'night'": 19, "run 'day'": 1}
    assert "'t-1', 't-10'" in lines["run 'night'"].detail
    assert lines["run 'night'"].detail.count("'t-") == 5


def test_an_exit_status_of_a_run_is_given_to_none_of_several_attempts_at_the_task(tmp_path: Path) -> None:
    """Every attempt of a run became infra when its list of exit statuses named the task once."""
    write(tmp_path / "run/preds.json", [prediction("t-1"), prediction("t-1", OTHER), prediction("t-2")])
    (tmp_path / "run/exit_statuses_1.yaml").write_text("instances_by_exit_status:\n  Timeout: [t-1, t-2]\n")
    found = read(tmp_path)
    assert found.chosen == {("t-1", "run", 0): "unknown", ("t-1", "run", 1): "unknown", ("t-2", "run", 0): "infra"}


def test_an_exit_status_of_a_folder_of_the_same_name_is_not_taken(tmp_path: Path) -> None:
    for seed in ("a", "b"):
        write(tmp_path / seed / "run/preds.json", [prediction("t-1", f"{DIFF}+{seed}\n")])
    for seed, status in (("a", "Submitted"), ("b", "Timeout")):
        text = f"instances_by_exit_status:\n  {status}: [t-1]\n"
        (tmp_path / seed / "run/exit_statuses_1.yaml").write_text(text)
    assert [item.exit_status for item in read(tmp_path).rollouts] == ["Submitted", "Timeout"]


# One fact, one answer


def answers(dump: Path) -> dict[str, str]:
    """What the harness says of each task, with the reason where there is one."""
    found = read(dump)
    tasks = {item.rollout_id: item.task_id for item in found.rollouts}
    return {tasks[item.rollout_id]: f"{item.outcome} {item.detail or ''}".strip() for item in found.outcomes}


FACTS: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any], str]] = [
    # fact, in a report of the attempt, in a report of the run, in an older one, answer
    ("resolved", {"resolved": True}, {"resolved_ids": ["t-1"]}, {"resolved": ["t-1"]}, "passed"),
    ("tests failed", {"resolved": False}, {"unresolved_ids": ["t-1"]}, {"applied": ["t-1"], "with_logs": ["t-1"]},
     "failed"),
    ("no patch", {"resolved": False, "patch_is_None": True}, {"empty_patch_ids": ["t-1"]}, {"no_generation": ["t-1"]},
     "failed no patch"),
    ("not applied", {"resolved": False, "patch_successfully_applied": False}, {}, {"no_apply": ["t-1"]},
     "failed patch did not apply"),
    ("broken", {"resolved": False, "infra_failure": True}, {"error_ids": ["t-1"]}, {"test_errored": ["t-1"]},
     "infra the evaluation broke"),
    ("incomplete", {}, {"incomplete_ids": ["t-1"]}, {"reset_failed": ["t-1"]}, "infra the evaluation broke"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("alone", "current", "older", "answer"), [fact[1:] for fact in FACTS], ids=[f[0] for f in FACTS]
)
def test_one_fact_has_one_answer_whoever_reports_it(
    tmp_path: Path, alone: dict[str, Any], current: dict[str, Any], older: dict[str, Any], answer: str
) -> None:
    """A patch that did not apply, and an empty one, failed by a report of the attempt and had no outcome by one of the
    run."""
    for place, report in (("a", alone), ("b", current), ("c", older)):
        if not report:
            continue
        write(tmp_path / place / "run/preds.json", [prediction(patch="" if "no patch" in answer else DIFF)])
        if report is alone:
            instance_report(tmp_path / place / "run/eval/t-1", **report)
        else:
            base = {"resolved_ids": []} if report is current else {"resolved": [], "generated": ["t-1"]}
            write(tmp_path / place / "run/results.json", {**base, **report})
        assert answers(tmp_path / place) == {"t-1": answer}


@pytest.mark.parametrize("key", ["flat", "nested", "native", "native outcome"])
def test_an_evaluation_that_was_not_completed_is_infra_wherever_that_is_said(tmp_path: Path, key: str) -> None:
    said = {"resolved": False, "evaluation_completed": False}
    write_lines(tmp_path / "r.jsonl", [prediction()])
    documents: dict[str, Any] = {
        "flat": [{"task_id": "t-1", "run": "r", **said}],
        "nested": {"t-1": {"r": said}},
        "native": [outcome(run="r", **said)],
        "native outcome": [outcome(run="r", outcome="failed", evaluation_completed=False)],
    }
    write(tmp_path / "o.json", documents[key])
    assert read(tmp_path).chosen == {("t-1", "r", 0): "infra"}


def test_the_found_predictions_without_a_patch_failed_whoever_reports_it(real: Path) -> None:
    chosen = {task: said for (task, _, _), said in read(real.parent / "found" / "predictions").chosen.items()}
    assert {name: chosen[f"acme__p-{name}"] for name in (1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15)} == {
        1: "passed", 2: "failed", 3: "failed", 4: "unknown", 5: "failed", 8: "unknown", 9: "failed", 10: "failed",
        11: "infra", 12: "infra", 13: "failed", 14: "unknown", 15: "infra",
    }  # fmt: skip


def test_an_id_that_is_both_resolved_and_unresolved_is_unknown_and_named(tmp_path: Path) -> None:
    write(tmp_path / "run/preds.json", [prediction()])
    write(tmp_path / "run/m.run.json", run_report(resolved_ids=["t-1"], unresolved_ids=["t-1"]))
    found = read(tmp_path)
    assert found.chosen == {("t-1", "run", 0): "unknown"}
    line = found.line("disagreement")
    assert "resolved_ids" in line.detail
    assert "unresolved_ids" in line.detail


@pytest.mark.parametrize(
    "more",
    [{"patch_is_None": True}, {"patch_successfully_applied": False}, {"infra_failure": True}, {"patch_exists": False}],
)
def test_a_pass_that_another_fact_of_the_report_excludes_is_unknown_and_named(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    write(tmp_path / "run/preds.json", [prediction()])
    instance_report(tmp_path / "run/eval/t-1", **more)
    found = read(tmp_path)
    assert found.chosen == {("t-1", "run", 0): "unknown"}
    assert found.count("disagreement") == 1


def test_an_infrastructure_failure_explains_a_failure(tmp_path: Path) -> None:
    write(tmp_path / "run/preds.json", [prediction()])
    report = run_report(
        resolved_ids=[], unresolved_ids=["t-1"], infra_failure_ids=["t-1"], failure_reasons={"t-1": "disk"}
    )
    write(tmp_path / "run/m.run.json", report)
    assert answers(tmp_path) == {"t-1": "infra disk"}


def test_tasks_that_a_run_did_not_try_are_no_loss(tmp_path: Path) -> None:
    write(tmp_path / "run/preds.json", [prediction()])
    write(tmp_path / "run/m.run.json", run_report(resolved_ids=["t-1"], incomplete_ids=["t-2", "t-3"]))
    found = read(tmp_path)
    assert found.count("not_tried") == 2
    assert found.count("outcome_without_rollout") == 0


def test_ids_of_a_report_that_are_none_are_counted_and_numbers_are_ids(tmp_path: Path) -> None:
    write(tmp_path / "run/preds.json", [prediction("7")])
    write(tmp_path / "run/m.run.json", run_report(resolved_ids=[7, None, ["x"], True, " "], resolved_instances=2))
    found = read(tmp_path)
    assert found.chosen == {("7", "run", 0): "passed"}
    assert found.count("id_refused") == 4
    assert found.count("report_counts_differ") == 1


@pytest.mark.parametrize(
    ("value", "outcome_name"),
    [
        (True, "passed"), (False, "failed"), (1, "passed"), (0, "failed"), (1.0, "passed"), (0.0, "failed"),
        ("true", "passed"), ("False", "failed"), ("1", "passed"), ("0", "failed"), ("1.0", "passed"),
        (None, "unknown"), ("", "unknown"), ("null", "unknown"),
    ],
)  # fmt: skip
def test_resolved_is_a_boolean_one_or_zero_or_their_text(tmp_path: Path, value: object, outcome_name: str) -> None:
    rows = [native(rollout_id="x"), outcome(rollout_id="x", resolved=value)]
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    assert found.chosen == {("t-1", "r", 0): outcome_name}
    assert not [line for line in found.census if line.kind == "outcome_refused"]


@pytest.mark.parametrize(
    "value",
    ["yes", "no", "PASSED", "pass", "resolved", "y", "none", "nan", 0.5, 2, -1, float("nan"), [True], {"a": True}],
)
@pytest.mark.parametrize("form", ["native", "flat", "report", "native outcome"])
def test_a_claim_in_other_words_is_no_outcome_and_is_named(tmp_path: Path, value: object, form: str) -> None:
    """`resolved: "yes"` counted as passed."""
    write(tmp_path / "r/preds.json", [prediction()])
    documents: dict[str, Any] = {
        "native": [outcome(run="r", resolved=value)],
        "flat": [{"task_id": "t-1", "run": "r", "resolved": value}],
        "native outcome": [outcome(run="r", outcome=value if value == value else "?")],
        "report": {"t-1": {"patch_exists": True, "resolved": value}},
    }
    write(tmp_path / "r/eval/t-1/report.json", documents[form])
    found = read(tmp_path)
    assert found.chosen == {("t-1", "r", 0): "unknown"}
    assert found.count("outcome_refused") == 1
    assert found.line("outcome_refused").place.startswith("r/eval/t-1/report.json")


def test_an_outcome_row_whose_words_differ_is_unknown_and_named(tmp_path: Path) -> None:
    rows = [native(rollout_id="x"), outcome(rollout_id="x", outcome="passed", resolved=False)]
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    assert found.chosen == {("t-1", "r", 0): "unknown"}
    assert found.count("disagreement") == 1


# Sources that differ


@pytest.mark.parametrize(
    ("status", "words", "kinds"),
    [
        (None, ["passed", "failed"], {"disagreement"}),
        (None, ["passed", "infra"], {"disagreement"}),
        (None, ["failed", "infra"], {"disagreement"}),
        (None, ["failed", "truncated"], {"disagreement"}),
        (None, ["passed", "unknown"], set()),
        (None, ["passed", "passed"], set()),
        ("Timeout", ["passed"], {"disagreement", "overruled"}),
        ("Timeout", ["failed"], {"overruled"}),
        ("exit_cost", ["passed"], {"disagreement"}),
        ("exit_cost", ["failed"], {"overruled"}),
        ("Submitted", ["passed"], set()),
    ],
)
def test_sources_that_differ_are_a_line_always(
    tmp_path: Path, status: str | None, words: list[str], kinds: set[str]
) -> None:
    rows = [native(rollout_id="x", exit_status=status)]
    for number, word in enumerate(words):
        write_lines(tmp_path / f"o{number}.jsonl", [outcome(rollout_id="x", outcome=word, detail=str(number))])
    found = read(write_lines(tmp_path / "d.jsonl", rows), *sorted(tmp_path.glob("o*.jsonl")))
    assert {line.kind for line in found.troubles if line.kind != "no_task"} == kinds


# What is refused or read as null is counted


def test_numbers_that_are_none_are_read_as_null_and_counted_by_column_and_kind(tmp_path: Path) -> None:
    rows = [
        native("a", input_tokens=-5, output_tokens="12"),
        native("b", input_tokens=-1, output_tokens=float("inf")),
        native("c", input_tokens=True, output_tokens=10**30, policy_step=float("nan")),
        native("d", turns=[{"role": "assistant", "text": "", "output_tokens": -2, "exit_code": "x"}]),
        native("e", turns=None, messages=[{"role": "assistant", "content": "x", "usage": {"prompt_tokens": 1.5}}]),
    ]
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    assert len(found.rollouts) == 5
    assert all(item.input_tokens is None and item.output_tokens is None for item in found.rollouts)
    said = {line.detail.split(",")[0]: line.count for line in found.census if line.kind == "value_ignored"}
    assert said == {
        "`input_tokens` is negative": 2, "`output_tokens` is text": 1, "`output_tokens` is infinite": 1,
        "`input_tokens` is true or false": 1, "`output_tokens` is out of range": 1, "`policy_step` is NaN": 1,
        "`output_tokens` is negative": 1, "`exit_code` is text": 1, "`prompt_tokens` is a fraction": 1,
    }  # fmt: skip


@pytest.mark.parametrize("value", [True, -1, 1.5, "first", [0], float("inf")])
def test_an_attempt_of_another_form_costs_its_row(tmp_path: Path, value: object) -> None:
    found = read(write_lines(tmp_path / "d.jsonl", [native(attempt=value), native(attempt=2)]))
    assert [item.attempt for item in found.rollouts] == [2]
    assert found.line("shape").place == "d.jsonl:line 1"


@pytest.mark.parametrize(("value", "index"), [("1", 1), (1.0, 1), ("1.0", 1), (None, 0), ("", 0), (float("nan"), 0)])
def test_an_attempt_may_be_written_as_text_or_as_tables_write_it(tmp_path: Path, value: object, index: int) -> None:
    found = read(write_lines(tmp_path / "d.jsonl", [native(attempt=value)]))
    assert found.rollout.attempt == index


@pytest.mark.parametrize("key", ["run", "policy", "rollout_id", "snapshot", "exit_status"])
def test_a_name_of_another_type_is_read_as_null_and_counted(tmp_path: Path, key: str) -> None:
    found = read(write_lines(tmp_path / "d.jsonl", [native(**{key: {"name": "x"}})]))
    assert len(found.rollouts) == 1
    assert found.line("value_ignored").detail.startswith(f"`{key}` is an object")


def test_a_run_that_is_a_number_is_a_name(tmp_path: Path) -> None:
    rows = [native(run=7, policy=3), outcome(run=7, policy="3", resolved=True)]
    assert read(write_lines(tmp_path / "d.jsonl", rows)).chosen == {("t-1", "7", 0): "passed"}


def test_the_found_numbers_are_counted_and_make_no_group_of_their_own(real: Path) -> None:
    """`policy_step` NaN put a rollout into a group of its own, and dropped counts were not counted."""
    found = read(real.parent / "found" / "native-nan-leak-dup.jsonl")
    rollouts = [item for item in found.rollouts if item.task_id == "acme__nan"]
    assert len(rollouts) == 9
    assert {item.group_id for item in rollouts} == {group_id_of("acme__nan", None, 3)}
    assert sorted(read_chosen(found, "acme__nan")) == sorted(
        ["passed", "failed", "unknown", "passed", "unknown", "unknown", "passed", "unknown", "passed"]
    )
    assert found.count("outcome_refused") == 4
    assert found.count("value_ignored") == 5


def read_chosen(found: Any, task_id: str) -> list[str]:
    return [said for (task, _, _), said in found.chosen.items() if task == task_id]


@pytest.mark.parametrize("turns", [None, [{"role": "assistant", "text": "hi"}]])
def test_a_step_that_cannot_be_read_joins_the_only_group_of_its_task(tmp_path: Path, turns: Any) -> None:
    rows = [native(policy_step=step, patch=f"{DIFF}+{n}\n", turns=turns) for n, step in enumerate([float("nan"), 3, 3])]
    groups = [item.group_id for item in read(write_lines(tmp_path / "d.jsonl", rows)).rollouts]
    assert groups == [group_id_of("t-1", None, 3)] * 3
    alone = read(write_lines(tmp_path / "e.jsonl", rows[:1])).rollouts
    assert [item.group_id for item in alone] == [group_id_of("t-1", None, None)]


def test_a_group_that_mixes_policies_or_steps_is_named_and_groups_of_two_tasks_are_two(tmp_path: Path) -> None:
    """A dump's group of an example's id held rollouts of two policy steps, and nothing said so."""
    rows = [native("a", group_id="0", policy_step=step, policy=policy) for step, policy in ((1, "m"), (2, "m"))]
    rows += [native("b", group_id="0", policy="m"), native("c", group_id="0", policy="n")]
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    assert "task a, group 0: its advantages compare policy steps: 1, 2" in found.line("mixed_steps").detail
    assert found.count("mixed_policies") == 0
    rows.append(native("c", group_id="0", policy="m"))
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    assert "task c, group 0: its advantages compare policies: m, n" in found.line("mixed_policies").detail


def test_an_attempt_index_that_stands_twice_does_not_hide_an_attempt(tmp_path: Path) -> None:
    rows = [native(attempt=0), native(attempt=0, patch=OTHER), outcome(run="r", attempt=0, resolved=True)]
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    assert len(found.rollouts) == 2
    assert not found.outcomes
    assert found.count("outcome_ambiguous") == 1


# What publishers measured


def published(**more: Any) -> dict[str, Any]:
    return {"instance_id": "t-1", "model_patch": DIFF, **more}


@pytest.mark.parametrize(
    ("claims", "outcome_name"),
    [
        ({"resolved": True}, "passed"), ({"resolved": 0}, "failed"), ({"target": True}, "passed"),
        ({"reward": 1.0}, "passed"), ({"reward": 0.0}, "failed"), ({"reward": 0.5}, "unknown"),
        ({"reward": 0.0, "resolved": False, "evaluation_completed": False}, "infra"),
        ({"reward": 1.0, "resolved": True, "evaluation_completed": True}, "passed"),
        ({"reward": 1.0, "resolved": False}, "unknown"), ({"reward": 1.0, "mask_sample": True}, "unknown"),
        ({"resolved": "yes"}, "unknown"), ({"status": "PASSED"}, None),
    ],
)  # fmt: skip
def test_what_a_row_says_was_measured_counts_only_when_that_is_trusted(
    tmp_path: Path, claims: dict[str, Any], outcome_name: str | None
) -> None:
    dump = write_lines(tmp_path / "rows.jsonl", [published(**claims)])
    untrusted = read(dump)
    assert not untrusted.outcomes
    assert untrusted.count("claim_ignored") == len(set(claims) - {"evaluation_completed", "mask_sample"})
    trusted = read(dump, trust_recorded=True)
    said = [(item.source, item.outcome) for item in trusted.outcomes]
    assert said == ([("recorded:predictions", outcome_name)] if outcome_name else [])


@pytest.mark.parametrize("where", ["info", "document"])
def test_a_claim_in_a_trajectory_is_counted_too(tmp_path: Path, where: str) -> None:
    document = trajectory()
    (document["info"] if where == "info" else document)["resolved"] = True
    write(tmp_path / "run/t-1/t-1.traj.json", document)
    assert read(tmp_path).count("claim_ignored") == 1
    (outcome_said,) = read(tmp_path, trust_recorded=True).outcomes
    assert (outcome_said.source, outcome_said.outcome) == ("recorded:mini-swe-agent", "passed")


def test_what_a_publisher_measured_gives_way_to_every_other_source(tmp_path: Path) -> None:
    dump = write_lines(tmp_path / "r.jsonl", [published(resolved=True)])
    write(tmp_path / "m.r.json", run_report(unresolved_ids=["t-1"], resolved_ids=[]))
    found = read(tmp_path, trust_recorded=True)
    assert found.chosen == {("t-1", "r", 0): "failed"}
    assert found.count("disagreement") == 1
    assert dump.is_file()


def test_what_a_merged_prediction_recorded_is_of_the_attempt(tmp_path: Path) -> None:
    write(tmp_path / "run/t-1/t-1.traj.json", trajectory())
    write(tmp_path / "run/preds.json", [prediction(resolved=True)])
    found = read(tmp_path, trust_recorded=True)
    assert found.chosen == {("t-1", "run", 0): "passed"}


def test_the_rows_of_tasks_that_were_left_out_still_say_which_run_a_report_is_of(tmp_path: Path) -> None:
    """With --tasks a report of another run was given to the policy's only run that was left: only the others were
    out."""
    write(tmp_path / "night-1/preds.json", [prediction("t-1"), prediction("t-2")])
    write(tmp_path / "night-2/preds.json", [prediction("t-1", OTHER)])
    write(tmp_path / "m.night-2.json", run_report(resolved_ids=["t-1", "t-2"]))
    records = list(ingest([tmp_path], wanted=lambda task_id: task_id == "t-2"))
    assert not [item for item in records if isinstance(item, Outcome)]
    lines = Counter[str]()
    for item in records:
        if isinstance(item, CensusLine):
            lines[item.kind] += item.count
    assert lines["filtered"] == 2
    assert lines["no_task"] == 1, "rollouts that were left out are not said to lack a task row"
    assert lines["outcome_without_rollout"] == 1


def test_a_document_of_outcomes_with_one_value_of_another_form_is_read(tmp_path: Path) -> None:
    preds = write_lines(tmp_path / "r.jsonl", [prediction("o__r-1"), prediction("o__r-2")])
    found = read(preds, write(tmp_path / "o.json", {"o__r-1": {"r": "yes"}, "o__r-2": {"r": True}}))
    assert found.chosen == {("o__r-1", "r", 0): "unknown", ("o__r-2", "r", 0): "passed"}
    assert found.count("outcome_refused") == 1


def test_nan_is_null_in_every_column_as_tables_write_it(tmp_path: Path) -> None:
    nan = float("nan")
    task = dict.fromkeys(("spec", "repo", "fail_to_pass", "pass_to_pass", "recipe", "test_patch", "hints"), nan)
    names = (
        "patch turns messages exit_status snapshot group_id attempt rollout_id policy policy_step input_tokens anything"
    )
    rollout = dict.fromkeys(names.split(), nan)
    said = dict.fromkeys(("outcome", "resolved", "tests", "detail", "source", "attempt", "policy", "rollout_id"), nan)
    rows = [{"kind": "task", "task_id": "t-1", **task}, {"kind": "rollout", "task_id": "t-1", "run": "r", **rollout},
            {"kind": "outcome", "task_id": "t-1", "run": "r", **said}]  # fmt: skip
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    assert len(found.rollouts) == 1
    assert (found.rollout.group_id, found.rollout.source_id) == (group_id_of("t-1", None, None), None)
    assert [item.outcome for item in found.outcomes] == ["unknown"]
    assert {line.kind for line in found.troubles} == {"value_ignored", "outcome_refused"}


def test_json_that_holds_nan_is_read_whether_it_stands_in_lines_or_alone(tmp_path: Path) -> None:
    text = json.dumps(prediction("t-1", float("nan")))
    (tmp_path / "night.jsonl").write_text(text + "\n")
    found = read(tmp_path)
    assert (found.rollout.run, found.rollout.patch) == ("night", None)
    assert found.line("value_ignored").place == "night.jsonl:line 1"
