"""The census of an ingest: few lines with counts and examples, and the account that a command gives of them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ingest_helpers import DIFF, Read, native, prediction, read, trajectory, write, write_lines

from rubrics.ingest.account import Account, account_of
from rubrics.ingest.tally import EXAMPLES, FOLDERS


def account(found: Read) -> Account:
    return account_of([asdict(line) for line in found.census], len(found.rollouts))


def test_a_folder_of_files_of_no_form_is_one_line_with_five_examples(tmp_path: Path) -> None:
    """One line per file: 5,577 lines for one folder."""
    for number in range(600):
        write(tmp_path / f"events/event-{number:03}.json", {"id": number})
    (line,) = read(tmp_path).census
    assert (line.subject, line.kind, line.place, line.count) == ("file", "not_recognised", "events", 600)
    assert line.detail.count("events/event-") == EXAMPLES
    assert "events/event-000.json" in line.detail


def test_files_and_rows_are_counted_apart(tmp_path: Path) -> None:
    write_lines(tmp_path / "d.jsonl", [{"a": number} for number in range(7)])
    write(tmp_path / "e.json", {"a": 1})
    found = read(tmp_path)
    assert (found.count("not_recognised", "row"), found.count("not_recognised", "file")) == (7, 2)


def test_each_folder_has_a_line_until_they_are_many(tmp_path: Path) -> None:
    for number in range(FOLDERS):
        write(tmp_path / f"run/{number}/x.json", {"a": 1})
    assert len(read(tmp_path).census) == FOLDERS
    write(tmp_path / "run/more/x.json", {"a": 1})
    (line,) = read(tmp_path).census
    assert (line.place, line.count) == ("run", FOLDERS + 1)


def test_one_place_is_named_exactly(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text(json.dumps(prediction()) + "\n{broken\n")
    assert read(tmp_path).line("not_json").place == "d.jsonl:line 2"


def test_what_is_kept_of_a_hostile_dump_is_bounded(tmp_path: Path) -> None:
    """Every row breaks in another way, and claims another run: neither lines nor their length grow with the dump."""
    rows: list[dict[str, Any]] = [{f"key {number}" * 50: number} for number in range(3000)]
    rows += [{"kind": "outcome", "task_id": f"t-{n}" * 99, "run": f"r-{n}" * 99, "resolved": True} for n in range(3000)]
    rows += [native(attempt=f"{number}x") for number in range(3000)]
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    assert found.count("outcome_without_rollout") == found.count("shape") == 3000
    assert len(found.census) < 120
    assert all(len(line.detail) < 3000 for line in found.census)


def test_a_dump_that_is_read_has_no_loud_lines(tmp_path: Path) -> None:
    write(tmp_path / "run/t-1/t-1.traj.json", trajectory())
    write(tmp_path / "run/preds.json", [prediction()])
    (tmp_path / "run/test_output.txt").write_text("log")
    assert account(read(tmp_path)) == Account((), False)


def test_most_of_the_files_not_recognised_is_a_failure_with_share_examples_and_remedy(tmp_path: Path) -> None:
    write(tmp_path / "run/preds.json", [prediction()])
    for number in range(3):
        write(tmp_path / f"run/event-{number}.json", {"id": number})
    said = account(read(tmp_path))
    assert said.failed
    assert said.lines[0].startswith("3 of 4 files (75%) were not recognised: an object with keys id")
    assert "run/event-0.json" in said.lines[0]
    assert "docs/formats.md" in said.lines[0]


def test_most_of_the_rows_not_recognised_is_a_failure(tmp_path: Path) -> None:
    rows = [{"kind": "task", "task_id": "t-1", "spec": "x"}, *({"task_id": "t-1", "patch": DIFF} for _ in range(3))]
    said = account(read(write_lines(tmp_path / "d.jsonl", [*rows, native()])))
    assert said.failed
    assert said.lines[0].startswith("3 of 5 rows (60%)")
    assert 'add `"kind": "rollout"`' in said.lines[0]
    assert not account(read(write_lines(tmp_path / "e.jsonl", [*rows[:3], native(), native()]))).failed


def test_a_dump_of_which_no_rollout_was_read_is_a_failure_unless_it_held_none(tmp_path: Path) -> None:
    tasks = write_lines(
        tmp_path / "tasks.jsonl", [{"kind": "task", "task_id": f"t-{n}", "spec": "x"} for n in range(9)]
    )
    assert not account(read(tasks)).failed
    (tmp_path / "log.eval").write_bytes(b"PK\x03\x04rest")
    said = account(read(tasks, tmp_path / "log.eval"))
    assert said.failed
    assert said.lines[0] == "no rollout was read: an archive; unpack it and give the folder (in log.eval)"


def test_a_dump_without_anything_to_read_is_a_failure(tmp_path: Path) -> None:
    assert account(read(tmp_path)).failed
    (tmp_path / "test_output.txt").write_text("log")
    (tmp_path / "empty.json").write_text("")
    assert account(read(tmp_path)).lines == (
        "nothing was read: the dumps hold no file of a form that is read (docs/formats.md)",
    )


def test_rollouts_that_lost_their_transcripts_are_told_and_most_of_them_are_a_failure(tmp_path: Path) -> None:
    rows = [{"instance_id": "t-1", "model_patch": f"{DIFF}+{n}\n", "history": [{"action": {}}]} for n in range(3)]
    said = account(read(write_lines(tmp_path / "d.jsonl", rows)))
    assert said.failed
    assert said.lines == (
        "3 rows: `history` holds a transcript of a form that is not read; the rollout is kept without it; "
        "e.g. line 1, line 2, line 3 (d.jsonl)",
    )
    mixed = [*rows, *(prediction(patch=f"{DIFF}+-{n}\n") for n in range(3))]
    said = account(read(write_lines(tmp_path / "d.jsonl", mixed)))
    assert not said.failed
    assert len(said.lines) == 1


def test_misspelt_columns_are_told(tmp_path: Path) -> None:
    said = account(read(write_lines(tmp_path / "d.jsonl", [{"kind": "rollout", "task_id": "t", "diff": DIFF}])))
    assert said.failed
    assert "`diff` is no column of a native rollout, `patch` is missing" in said.lines[0]


def test_outcomes_that_went_to_no_rollout_are_told_but_are_no_failure(tmp_path: Path) -> None:
    write(tmp_path / "night/preds.json", [prediction()])
    write(tmp_path / "m.night.json", {"schema_version": 2, "resolved_ids": ["t-1", "t-2"]})
    said = account(read(tmp_path))
    assert not said.failed
    assert said.lines[0].startswith("1 outcomes: run 'night': 't-2'")
