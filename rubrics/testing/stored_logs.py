"""Stored logs of hidden tests, read the same way as a run's output, without running anything.

The log is sealed: its statuses and its digest are taken, its text goes nowhere. It is weaker evidence than a run: what
a program printed cannot be told from what the runner printed, beyond the checks of the readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from rubrics import jsonio
from rubrics.ingest.items import FileRef
from rubrics.ingest.names import run_of_folder
from rubrics.ingest.walk import files_of
from rubrics.records.outcomes import Outcome
from rubrics.records.tasks import Sealed, Task
from rubrics.testing.compare import compare
from rubrics.testing.forms import READERS, read_output
from rubrics.testing.results import GOOD, Results

LOG = "test_output.txt"
_START, _END = ">>>>> Start Test Output", ">>>>> End Test Output"


@dataclass(frozen=True, slots=True)
class StoredLog:
    """A harness folder's log: whose it is and what it says."""

    task_id: str
    run: str
    place: str
    patch: str | None
    """The tested patch, where it lies beside the log."""
    text: Sealed


def stored_logs(dumps: list[Path]) -> Iterator[StoredLog]:
    """Every log in the dumps; the folder it lies in names the task."""
    for number, dump in enumerate(dumps):
        for file in files_of(dump, number):
            if isinstance(file, FileRef) and file.name == LOG and file.folders:
                task_id = file.folders[-1]
                beside = file.sibling("patch.diff")
                patch = beside.read_text("utf-8", "replace") if beside is not None else None
                run = _run_of(file, task_id)
                yield StoredLog(task_id, run, file.relative, patch, Sealed(file.path.read_text("utf-8", "replace")))


def outcome_of(log: StoredLog, task: Task, rollout_id: str) -> Outcome:
    """What the log says of the rollout, as a source of its own."""
    text = log.text.open_for("tests")
    part = hidden_part(text)
    known = any(reader.looks_like(part) for reader in READERS)
    results = read_output(part, None) if known else Results("exit", {}, "no known form of output")
    source, digest = f"harness:{log.place}", sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    tests = jsonio.dumps(dict(results.statuses)) if results.statuses else None
    if results.form == "exit":
        return Outcome(rollout_id, source, "unknown", results.problem, None, digest)
    code = 0 if all(status in GOOD or status == "skipped" for status in results.statuses.values()) else 1
    verdict = compare(results, task.fail_to_pass, task.pass_to_pass, code)
    return Outcome(rollout_id, source, verdict.outcome, f"log: {verdict.why}", tests, digest)


def hidden_part(text: str) -> str:
    """What stands between the harness's marks, the whole text where there are none."""
    start, end = text.rfind(_START), text.rfind(_END)
    inner = text[start + len(_START) : end] if 0 <= start < end else text
    return re.sub(r"\A[^\n]*\n", "", inner) if 0 <= start < end else inner


def _run_of(file: FileRef, task_id: str) -> str:
    folders = file.folders
    if len(folders) >= 4 and folders[-4] == "run_evaluation":
        return folders[-3]
    return run_of_folder(file, task_id)
