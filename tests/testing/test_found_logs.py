"""Cases from outside, each with its right value: logs that were read wrongly once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rubrics.records.tasks import Task
from rubrics.testing.bounded import Reader
from rubrics.testing.stored_logs import StoredLog, outcome_of

FOUND = Path(__file__).resolve().parents[3] / "shared" / "found"
CASES = FOUND / "logs" / "cases.json"


def cases() -> list[dict[str, object]]:
    if not CASES.is_file():
        return []
    text = CASES.read_text("utf-8")
    return json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in text.splitlines()]


@pytest.mark.skipif(not CASES.is_file(), reason=f"no outside cases at {FOUND}")
def test_every_outside_log_has_its_right_outcome() -> None:
    reader, said = Reader(), {}
    for case in cases():
        task = Task(
            str(case["task"]), None, None, None, fail_to_pass=tuple(case["fail_to_pass"]),  # type: ignore[arg-type]
            pass_to_pass=tuple(case["pass_to_pass"]),  # type: ignore[arg-type]
        )  # fmt: skip
        path = FOUND / str(case["log"])
        log = StoredLog(task.task_id, "r", None, path.name, None, path)
        said[str(case["log"])] = outcome_of(log, task, "r", reader)[0].outcome
    reader.close()
    assert said == {case["log"]: case["right"] for case in cases()}
