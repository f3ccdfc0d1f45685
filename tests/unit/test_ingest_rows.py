"""What rows and documents are taken for, and that nothing in them is dropped without a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ingest_helpers import DIFF, native, prediction, read, trajectory, write, write_lines

from rubrics.ingest.recognise import recognise

CHAT = [
    {"role": "system", "content": "be good"},
    {"role": "user", "content": "fix it"},
    {"role": "assistant", "content": "look", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{\"command\": \"ls\"}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
    {"role": "assistant", "content": "done"},
]  # fmt: skip
FOREIGN: dict[str, Any] = {
    "messages": [{"from": "human", "value": "fix it"}],
    "trajectory": [{"role": "ai", "text": "I look"}],
    "history": [{"id": 0, "action": "run", "args": {"command": "ls"}}],
    "response": {"output": [{"type": "function_call", "name": "bash", "arguments": "{}"}]},
    "completion": "<think>look</think> done",
    "conversations": [{"from": "gpt", "value": "done"}],
    "trajectory_steps": [{"thought": "look", "action": {"name": "ls"}}],
    "events": '[{"kind": "ActionEvent"}]',
}
STEPS = [
    {"action": "ls\n", "observation": "a.py", "response": "I look.", "thought": "I look.", "state": "{}"},
    {"action": "submit\n", "observation": DIFF, "response": "Done.", "thought": "Done.", "state": "{}"},
]


# Transcripts beside a patch


@pytest.mark.parametrize("key", sorted(FOREIGN))
@pytest.mark.parametrize(
    "row", [{"model_patch": DIFF}, {"model_name": "m"}, {"generated_patch": DIFF, "model_name": "m"}]
)
def test_a_transcript_that_no_reader_understands_is_counted_by_its_column(
    tmp_path: Path, key: str, row: dict[str, Any]
) -> None:
    """A row with a patch was taken for a bare prediction, and the transcript beside it was dropped in silence."""
    found = read(write_lines(tmp_path / "d.jsonl", [{"instance_id": "t-1", key: FOREIGN[key], **row}]))
    assert found.rollout.turns is None
    line = found.line("transcript_not_read")
    assert f"`{'response.output' if key == 'response' else key}`" in line.detail
    assert (line.subject, line.count) == ("row", 1)


def test_equal_patches_with_different_transcripts_that_are_not_read_are_no_duplicates(tmp_path: Path) -> None:
    rows = [
        {"instance_id": "t-1", "model_patch": DIFF, "history": [{"action": "run", "n": number}]} for number in (1, 2, 2)
    ]
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    first, second, third = found.rollouts
    assert (first.duplicate_of, second.duplicate_of, third.duplicate_of) == (None, None, second.rollout_id)
    assert len({item.rollout_id for item in found.rollouts}) == 3


@pytest.mark.parametrize("key", ["messages", "trajectory", "history"])
@pytest.mark.parametrize("as_text", [True, False])
def test_a_chat_in_a_row_is_read_under_every_name(tmp_path: Path, key: str, as_text: bool) -> None:
    value = json.dumps(CHAT) if as_text else CHAT
    found = read(write_lines(tmp_path / "d.jsonl", [{"instance_id": "t-1", "model_patch": DIFF, key: value}]))
    turns = found.rollout.turns
    assert turns is not None
    assert [turn.role for turn in turns] == ["system", "user", "assistant", "assistant"]
    assert turns[2].observation == "a.py"
    assert found.count("transcript_not_read") == 0


def test_a_completion_is_read_with_its_prompt(tmp_path: Path) -> None:
    row = {"instance_id": "t-1", "model_patch": DIFF, "prompt": CHAT[:2], "completion": CHAT[2:]}
    turns = read(write_lines(tmp_path / "d.jsonl", [row])).rollout.turns
    assert turns is not None
    assert [turn.role for turn in turns] == ["system", "user", "assistant", "assistant"]


def test_a_chat_of_a_parquet_file_is_read(tmp_path: Path) -> None:
    rows = [{"instance_id": "t-1", "model_patch": DIFF, "trajectory": CHAT, "resolved": 1}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "d.parquet")
    found = read(tmp_path)
    assert found.rollout.n_turns == 2
    assert found.count("claim_ignored") == 1


def test_steps_of_text_actions_in_a_row_are_read(tmp_path: Path) -> None:
    row = {"instance_id": "t-1", "model_patch": DIFF, "trajectory": STEPS}
    turns = read(write_lines(tmp_path / "d.jsonl", [row])).rollout.turns
    assert turns is not None
    assert [turn.observation for turn in turns] == ["a.py", DIFF]


def test_a_second_transcript_of_a_row_is_named(tmp_path: Path) -> None:
    row = {"instance_id": "t-1", "model_patch": DIFF, "messages": CHAT, "history": FOREIGN["history"]}
    found = read(write_lines(tmp_path / "d.jsonl", [row]))
    assert found.rollout.turns is not None
    assert "`history`" in found.line("column_dropped").detail


@pytest.mark.parametrize("number", [0, 12, None, "", []])
def test_a_count_or_nothing_under_such_a_name_is_no_transcript(tmp_path: Path, number: object) -> None:
    row = {"instance_id": "t-1", "model_patch": DIFF, "steps": number, "turns": number, "messages": number or None}
    assert read(write_lines(tmp_path / "d.jsonl", [row])).count("transcript_not_read") == 0


@pytest.mark.parametrize("more", [{"run": "r", "resolved": True}, {"problem_statement": "x", "base_commit": "y"}])
def test_a_row_that_holds_an_attempt_is_neither_an_outcome_nor_a_task(tmp_path: Path, more: dict[str, Any]) -> None:
    """A publisher's claim in a row with a transcript would have counted as an outcome file."""
    row = {"instance_id": "t-1", "trajectory": CHAT, **more}
    found = read(write_lines(tmp_path / "d.jsonl", [row]))
    assert [item for item in found.records if item not in found.census] == []
    assert found.count("not_recognised", "row") == 1
    with_patch = read(write_lines(tmp_path / "d.jsonl", [{**row, "model_patch": DIFF}]))
    assert with_patch.rollout.n_turns == 2
    assert not with_patch.outcomes


# What a document is taken for, and why


def swe_agent(**more: Any) -> dict[str, Any]:
    spoken = [{"role": "assistant", "content": step["response"], "action": step["action"]} for step in STEPS]
    history = [{"role": "user", "content": "fix it"}, *spoken]
    info = {"exit_status": "submitted", "submission": DIFF}
    return {"environment": "main", "trajectory": STEPS, "history": history, "info": info, **more}


def form(value: Any) -> str | None:
    found = recognise(value)
    return None if found is None else found.form


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (swe_agent(), "swe-agent"),
        (swe_agent(messages=[[{"role": "user", "content": "x"}]]), "swe-agent"),
        (swe_agent(messages=CHAT), "swe-agent"),
        (trajectory(), "mini-swe-agent"),
        ({"messages": CHAT, "info": {"a": 1}}, None),
        ({"messages": [["x"]], "info": {"exit_status": "x"}}, None),
        ({"trajectory": [{"action": {"name": "set"}, "observation": {}}], "reward": 0.5}, None),
        ({"trajectory": [{"action": "left", "observation": "wall"}], "reward": 0.5}, None),
        ({"trajectory": []}, None),
        ({"history": [{"role": "user", "content": "hello"}]}, None),
        ({"instance_id": "t", "model_patch": DIFF, "trajectory": []}, "prediction"),
        ({"instance_id": "t", "model_patch": DIFF, "tries": 2}, "aider"),
        ({"resolved": ["t-1"]}, "run report"),
        ({"resolved": ["t-1"], "stats": {}, "resolved_per_project": {}}, "run report"),
        ({"resolved": ["t-1"], "anything": 1}, None),
    ],
)
def test_a_form_is_told_by_all_its_marks(value: Any, expected: str | None) -> None:
    assert form(value) == expected


def test_the_census_says_what_was_taken_for_what_and_why(tmp_path: Path) -> None:
    write(tmp_path / "exp/t-1/t-1.traj", swe_agent())
    write_lines(tmp_path / "p.jsonl", [prediction(), prediction("t-2")])
    said = {
        (line.subject, line.place): (line.detail, line.count)
        for line in read(tmp_path).census
        if line.kind == "read_as"
    }
    assert said["file", "exp/t-1/t-1.traj"][0].startswith("swe-agent: by `trajectory` of text actions, `history`")
    assert said["row", "p.jsonl"] == ("prediction: by `model_patch`, `model_name_or_path`", 2)
    assert said["file", "p.jsonl"] == ("rows", 1)


def test_the_found_trajectory_with_lists_is_one_attempt_of_swe_agent(real: Path) -> None:
    """An extra `messages` that is a list of lists made it a broken file of mini-swe-agent."""
    found = read(real.parent / "found" / "traj-with-lists")
    assert (found.rollout.harness, found.rollout.task_id, found.rollout.n_turns) == ("swe-agent", "acme__t-1", 1)
    assert found.rollout.turns is not None
    assert found.rollout.turns[-1].observation == "core.py"
    assert not [line for line in found.troubles if line.kind != "no_task"]


@pytest.mark.parametrize("document", [swe_agent(), {**trajectory(), "instance_id": None}, CHAT])
def test_trajectories_that_name_no_task_are_not_read_from_rows(tmp_path: Path, document: Any) -> None:
    """Rows without a task all became attempts at one task, named as the file."""
    if document is CHAT:
        document = [*CHAT[:2], {"role": "assistant", "content": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}]
    found = read(write_lines(tmp_path / "d.jsonl", [document, document]))
    assert not found.rollouts
    assert found.count("shape") == 2


def test_rows_in_camel_case_are_read(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", [{"instanceId": "t-1", "modelPatch": DIFF, "modelNameOrPath": "m"}])
    write(tmp_path / "b.json", {"t-1": {"modelPatch": DIFF}})
    write(tmp_path / "c.json", [{"taskId": "t-1", "run": "a", "resolved": True}])
    found = read(tmp_path)
    assert [(item.task_id, item.run, item.patch) for item in found.rollouts] == [("t-1", "a", DIFF), ("t-1", "b", DIFF)]
    assert found.chosen["t-1", "a", 0] == "passed"


def test_a_prediction_under_the_name_of_another_task_is_of_neither(tmp_path: Path) -> None:
    write(tmp_path / "run/preds.json", {"t-1": prediction("t-2"), "t-3": prediction("t-3"), "t-4": None})
    found = read(tmp_path)
    assert [item.task_id for item in found.rollouts] == ["t-3"]
    assert all(name in found.line("id_differs").detail for name in ("'t-1'", "'t-2'"))
    assert found.line("shape").place == "run/preds.json:t-4"


# SWE-agent in full


def test_the_answer_to_the_last_action_is_kept(tmp_path: Path) -> None:
    """In 0.x files it stands in `trajectory` alone, and was lost."""
    turns = read(write(tmp_path / "run/t-1.traj", swe_agent())).rollout.turns
    assert turns is not None
    assert [turn.observation for turn in turns if turn.role == "assistant"] == ["a.py", DIFF]


def test_an_answer_that_became_no_step_does_not_shift_the_others(tmp_path: Path) -> None:
    document = swe_agent()
    document["history"].insert(1, {"role": "assistant", "content": "no command at all"})
    turns = read(write(tmp_path / "run/t-1.traj", document)).rollout.turns
    assert turns is not None
    assert [turn.observation for turn in turns if turn.role == "assistant"] == [None, "a.py", DIFF]


def test_steps_that_the_history_lacks_are_appended_or_counted(tmp_path: Path) -> None:
    whole = swe_agent()
    del whole["history"][2:]
    assert read(write(tmp_path / "a/t-1.traj", whole)).rollout.n_turns == 2
    other = swe_agent()
    other["history"][1:] = [{"role": "assistant", "content": "something else", "agent": "main"}]
    other["trajectory"] = [*STEPS, *STEPS]
    found = read(write(tmp_path / "b/t-1.traj", other))
    assert found.rollout.n_turns == 1
    assert found.count("steps_left_out") == 1


def test_several_agents_states_times_and_costs_have_a_place(tmp_path: Path) -> None:
    steps = [{**step, "execution_time": 0.5, "state": '{"open_file": "a.py"}'} for step in STEPS]
    history = [{"role": "system", "content": "manage", "agent": "Manager"},
               {"role": "assistant", "content": "I look.", "action": "ls\n", "agent": "Manager"},
               {"role": "user", "content": "the programmer's task", "agent": "Programmer"},
               {"role": "assistant", "content": "Done.", "action": "submit\n", "agent": "Programmer"}]  # fmt: skip
    info = {"exit_status": "submitted", "submission": DIFF, "model_stats": {"api_calls": 2, "instance_cost": 0.25}}
    rollout = read(write(tmp_path / "run/t-1.traj", swe_agent(trajectory=steps, history=history, info=info))).rollout
    assert json.loads(rollout.extra or "") == {
        "agents": ["Manager", "Programmer"], "environment": "main", "execution_time": [0.5, 0.5],
        "model_stats": {"api_calls": 2, "instance_cost": 0.25}, "state": ['{"open_file": "a.py"}'] * 2,
    }  # fmt: skip
    assert rollout.turns is not None
    assert [turn.observation for turn in rollout.turns] == [None, "a.py", None, DIFF], "a task is no answer"


# Columns


def test_a_misspelt_column_is_named_with_the_nearest_and_makes_no_duplicates(tmp_path: Path) -> None:
    """16 rollouts had no patch because the column was called `diff`, and 11 were called duplicates."""
    rows = []
    for number in range(16):
        row = native(diff=f"{DIFF}+{number}\n", model_name="m")
        del row["patch"], row["policy"]
        rows.append(row)
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    assert len(found.rollouts) == 16
    assert not any(item.duplicate_of for item in found.rollouts)
    said = {
        line.detail.split(" is ")[0]: (line.detail, line.count)
        for line in found.census
        if line.kind == "column_misspelt"
    }
    assert {key: count for key, (_, count) in said.items()} == {"`diff`": 16, "`model_name`": 16}
    assert "`patch` is missing" in said["`diff`"][0]
    assert "`policy` is missing" in said["`model_name`"][0]


@pytest.mark.parametrize(
    ("row", "wrong", "meant"),
    [
        ({"instance_id": "t", "model_name_or_path": "m", "modelpatch": DIFF}, "modelpatch", "model_patch"),
        ({"instance_id": "t", "model_name_or_path": "m", "diff": DIFF}, "diff", "model_patch"),
        ({"instance_id": "t", "model_name_or_path": "m", "patch": DIFF}, "patch", "model_patch"),
        ({"instance_id": "t", "model_patch": DIFF, "model": "m"}, "model", "model_name_or_path"),
        (
            {"instance_id": "t", "model_patch": DIFF, "model_name_or_pth": "m"},
            "model_name_or_pth",
            "model_name_or_path",
        ),
        ({"kind": "rollout", "task_id": "t", "pacth": DIFF}, "pacth", "patch"),
        ({"kind": "rollout", "task_id": "t", "patch": DIFF, "step": 3}, "step", "policy_step"),
        ({"kind": "rollout", "task_id": "t", "patch": DIFF, "trajectory": CHAT}, "trajectory", "turns"),
        ({"kind": "rollout", "task_id": "t", "patch": DIFF, "exit_staus": "x"}, "exit_staus", "exit_status"),
    ],
)
def test_misspellings_are_told(tmp_path: Path, row: dict[str, Any], wrong: str, meant: str) -> None:
    found = read(write_lines(tmp_path / "d.jsonl", [row]))
    details = [line.detail for line in found.census if line.kind == "column_misspelt"]
    assert any(f"`{wrong}`" in detail and f"`{meant}`" in detail for detail in details)


def test_ordinary_further_columns_are_no_misspellings(tmp_path: Path) -> None:
    row = native(temperature=0.7, n_turns=5, cost=0.1, model_stats={"calls": 3}, note="x", patch_bytes=5, repo="o/r")
    del row["patch"], row["turns"]
    found = read(write_lines(tmp_path / "d.jsonl", [row]))
    assert found.count("column_misspelt") == 0
    assert json.loads(found.rollout.extra or "") == {
        "cost": 0.1, "model_stats": {"calls": 3}, "n_turns": 5, "note": "x", "patch_bytes": 5, "repo": "o/r",
        "temperature": 0.7,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("row", "hint"),
    [
        ({"task_id": "t", "run": "r", "patch": DIFF, "turns": []}, '"kind": "rollout"'),
        ({"task_id": "t", "outcome": "passed"}, '"kind": "outcome"'),
        ({"task_id": "t", "spec": "fix"}, '"kind": "task"'),
        ({"instance_id": "t", "model": "m", "diff": DIFF}, "`diff` for `model_patch`"),
    ],
)
def test_a_row_that_nearly_has_a_form_is_told_what_it_lacks(tmp_path: Path, row: dict[str, Any], hint: str) -> None:
    found = read(write_lines(tmp_path / "d.jsonl", [row]))
    assert not found.rollouts
    (line,) = [line for line in found.census if (line.subject, line.kind) == ("row", "not_recognised")]
    assert hint in line.detail


# What else a row says


def test_what_is_no_plain_value_is_named_and_what_gives_the_answer_away_is_not_kept(tmp_path: Path) -> None:
    row = prediction(
        cost=0.5, empty=[], log="x" * 501, other_patch=DIFF, gold_patch=DIFF, hints_text="look there", nested={"a":
        {"gold": 1}}, FAIL_TO_PASS=["t"], test_patch="SECRET", status="PASSED", nan=float("nan"),
    )  # fmt: skip
    found = read(write_lines(tmp_path / "d.jsonl", [row]))
    assert json.loads(found.rollout.extra or "") == {"cost": 0.5, "nested": {"a": {}}}
    assert {line.detail.split(" ")[0] for line in found.census if line.kind == "column_dropped"} == {
        "`log`",
        "`other_patch`",
    }
    assert "look there" not in repr(found.records)
    assert "SECRET" not in repr(found.records)


def test_what_is_kept_is_bounded_and_part_of_no_id(tmp_path: Path) -> None:
    plain = read(write_lines(tmp_path / "a.jsonl", [native()])).rollout
    noted = read(write_lines(tmp_path / "a.jsonl", [native(note="x", big=list(range(100_000)))]))
    assert noted.rollout.extra == '{"note":"x"}'
    assert noted.count("column_dropped") == 1
    assert (noted.rollout.rollout_id, noted.rollout.content_digest) == (plain.rollout_id, plain.content_digest)
    assert plain.extra is None


def test_arguments_that_hold_nan_survive_their_stored_form(tmp_path: Path) -> None:
    turns = (
        '[{"role": "assistant", "text": "", "tool_calls": [{"name": "f", "arguments": {"x": NaN, "y": [Infinity]}}]}]'
    )
    (tmp_path / "d.jsonl").write_text(
        json.dumps(native()).replace('[{"role": "assistant", "text": "hi"}]', turns) + "\n"
    )
    found = read(tmp_path).rollout.turns
    assert found is not None
    assert found[0].tool_calls[0].arguments == {"x": None, "y": [None]}
