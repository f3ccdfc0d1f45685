"""The sample task set: it is whole and small, says what really happened, and regenerates byte for byte."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample"
TASKS = ("sample__textkit-17", "sample__spans-8", "sample__confpath-31", "sample__durations-23")
ALPHA = tuple(f"alpha-{number}" for number in range(1, 6))
BETA = tuple(f"beta-{number}" for number in range(1, 4))
WORDS = {"pass": True, "fail": False, "limit": False, "infra": None}


def read(*parts: str) -> Any:
    return json.loads(SAMPLE.joinpath(*parts).read_text(encoding="utf-8"))


def read_rows() -> dict[str, Any]:
    lines = (SAMPLE / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["instance_id"]: row for row in map(json.loads, lines)}


def read_attempt(run: str, task: str) -> Any:
    return read("runs", run, task, f"{task}.traj.json" if run in ALPHA else f"{task}.traj")


def submissions(task: str) -> dict[str, str]:
    return {run: read_attempt(run, task)["info"]["submission"] for run in ALPHA + BETA}


def recorded() -> dict[tuple[str, str], set[bool]]:
    """What reports and `outcomes.json` say of (run, task)."""
    said: dict[tuple[str, str], set[bool]] = {}
    for path in SAMPLE.glob("runs/*/eval/*/report.json"):
        for task, report in json.loads(path.read_text(encoding="utf-8")).items():
            said.setdefault((path.parts[-4], task), set()).add(report["resolved"])
    for row in read("outcomes.json"):
        said.setdefault((row["run"], row["task_id"]), set()).add(row["resolved"])
    return said


def stated() -> dict[tuple[str, str], bool | None]:
    """What the table in the README says of (run, task)."""
    text = (SAMPLE / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ((?:alpha|beta)-\d) \| (\w+) \| (\w+) \| (\w+) \| (\w+) \|$", text, flags=re.M)
    return {(run, task): WORDS[word] for run, *words in rows for task, word in zip(TASKS, words, strict=True)}


def generated_files(folder: Path) -> dict[str, bytes]:
    paths = [folder / "tasks.jsonl", folder / "outcomes.json", *(folder / "runs").rglob("*")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if path.is_file()}


def test_regenerating_gives_the_same_bytes(tmp_path: Path) -> None:
    command = [sys.executable, str(SAMPLE / "make_sample.py"), "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    made, committed = generated_files(tmp_path), generated_files(SAMPLE)
    assert sorted(made) == sorted(committed)
    assert [name for name in made if made[name] != committed[name]] == []


def test_every_task_has_eight_rollouts_of_eight_runs() -> None:
    assert tuple(read_rows()) == TASKS
    trajectories = sorted(path.relative_to(SAMPLE / "runs").parts[:2] for path in SAMPLE.glob("runs/*/*/*.traj*"))
    assert trajectories == sorted((run, task) for run in ALPHA + BETA for task in TASKS)


def test_the_files_are_small_and_name_no_machine() -> None:
    files = [path for path in SAMPLE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(path.stat().st_size for path in files) < 1_500_000
    words = ("/root", "/home/", "/Users/", tempfile.gettempdir() + "/", ".pyenv", "site-packages")
    named = [(path.name, word) for path in files for word in words if word in path.read_text(encoding="utf-8")]
    assert named == []


def test_outcomes_agree_with_the_readme() -> None:
    said = recorded()
    assert {key: said.get(key, {None}) for key in stated()} == {key: {value} for key, value in stated().items()}
    assert len(stated()) == 32


def test_a_report_is_resolved_when_every_listed_test_passed() -> None:
    rows = read_rows()
    for path in SAMPLE.glob("runs/*/eval/*/report.json"):
        ((task, report),) = json.loads(path.read_text(encoding="utf-8")).items()
        for name in ("FAIL_TO_PASS", "PASS_TO_PASS"):
            tests = report["tests_status"][name]
            assert sorted(tests["success"] + tests["failure"]) == json.loads(rows[task][name]), path
        failed = [test for name in ("FAIL_TO_PASS", "PASS_TO_PASS") for test in report["tests_status"][name]["failure"]]
        assert report["resolved"] is (failed == []), path


@pytest.mark.parametrize(
    ("task", "passed", "failed"), [(TASKS[0], 7, 1), (TASKS[1], 4, 4), (TASKS[2], 5, 3), (TASKS[3], 4, 3)]
)
def test_how_many_pass(task: str, passed: int, failed: int) -> None:
    outcomes = [outcome for (_, name), said in recorded().items() if name == task for outcome in said]
    assert (outcomes.count(True), outcomes.count(False)) == (passed, failed)


def test_predictions_equal_the_submissions() -> None:
    for run in ALPHA + BETA:
        if run in ALPHA:
            rows = list(read("runs", run, "preds.json").values())
        else:
            lines = (SAMPLE / "runs" / run / "all_preds.jsonl").read_text(encoding="utf-8").splitlines()
            rows = [json.loads(line) for line in lines]
        patches = {row["instance_id"]: row["model_patch"] for row in rows}
        assert patches == {task: submissions(task)[run] for task in TASKS}


def test_one_attempt_reads_the_answer_from_the_history() -> None:
    attempt = read_attempt("alpha-2", "sample__confpath-31")
    commands = [
        call["command"] for message in attempt["messages"] for call in message.get("extra", {}).get("actions", [])
    ]
    assert "git log --all --oneline" in commands
    assert "git show next:confpath/split.py" in commands
    assert attempt["info"]["submission"] == read_rows()["sample__confpath-31"]["patch"]
    for run in set(ALPHA + BETA) - {"alpha-2"}:
        assert "git show" not in json.dumps(read_attempt(run, "sample__confpath-31"))


def test_scratch_files_are_left_in_several_patches() -> None:
    left = {run: sorted(re.findall(r"^\+\+\+ b/([\w.]+)$", patch, flags=re.M)) for run, patch in
            submissions("sample__confpath-31").items()}  # fmt: skip
    assert {run: names for run, names in left.items() if names} == {
        "alpha-1": ["repro.py"],
        "alpha-3": ["test_tmp.py"],
        "alpha-5": ["debug_output.txt", "notes.md"],
        "beta-2": ["check_paths.py"],
    }


def test_two_attempts_have_the_same_patch_and_different_transcripts() -> None:
    patches = submissions("sample__spans-8")
    assert patches["alpha-1"] == patches["beta-3"] != ""
    assert len({patch for patch in patches.values() if patch}) == 6


def test_two_attempts_end_early() -> None:
    for run, task, status in (
        ("alpha-1", "sample__durations-23", "RateLimitError"),
        ("alpha-5", "sample__spans-8", "LimitsExceeded"),
    ):
        attempt = read_attempt(run, task)
        assert (attempt["info"]["exit_status"], attempt["info"]["submission"]) == (status, "")
        assert attempt["messages"][-1]["role"] == "exit"


def test_one_call_is_malformed() -> None:
    broken = []
    for run in ALPHA:
        for task in TASKS:
            for message in read_attempt(run, task)["messages"]:
                for call in message.get("tool_calls", []):
                    try:
                        json.loads(call["function"]["arguments"])
                    except json.JSONDecodeError:
                        broken.append((run, task))
    assert broken == [("alpha-5", "sample__textkit-17")]
