"""Stored logs of hidden tests, read the same way as a run's output, without running anything.

The log is sealed: its statuses and its digest are taken, its text stays in the process that reads it. It is weaker
evidence than a run: what a program printed cannot be told from what the runner printed, beyond the checks of the
readers. A log that cannot be read says nothing: `unknown`, with the class of the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from rubrics import jsonio
from rubrics.ingest.harness import MAX_PATCH, PATCH
from rubrics.ingest.items import FileRef
from rubrics.ingest.names import run_of_folder
from rubrics.ingest.walk import files_of
from rubrics.records.outcomes import Outcome
from rubrics.records.tasks import Task
from rubrics.testing.bounded import Reader
from rubrics.testing.compare import Verdict, compare
from rubrics.testing.results import GOOD, Results

LOG = "test_output.txt"


@dataclass(frozen=True, slots=True)
class StoredLog:
    """A harness folder's log: whose it is, and where it lies. Its text is sealed and not held here."""

    task_id: str
    run: str
    policy: str | None
    """The model's name in the harness's folders; null where they do not name one."""
    place: str
    patch: str | None
    """The tested patch, where it lies beside the log."""
    path: Path

    @property
    def digest(self) -> str:
        """First 32 hex digits of the sha256 of the log's bytes."""
        state = sha256()
        with self.path.open("rb") as stream:
            while piece := stream.read(1024**2):
                state.update(piece)
        return state.hexdigest()[:32]


def stored_logs(dumps: list[Path]) -> Iterator[StoredLog]:
    """Every log in the dumps; the folder it lies in names the task."""
    for number, dump in enumerate(dumps):
        for file in files_of(dump, number):
            if isinstance(file, FileRef) and file.name == LOG and file.folders:
                task_id = file.folders[-1]
                run, policy = _run_of(file, task_id)
                yield StoredLog(task_id, run, policy, file.relative, _patch(file), file.path)


def outcome_of(log: StoredLog, task: Task, rollout_id: str, reader: Reader) -> tuple[Outcome, Verdict]:
    """What the log says of the rollout, as a source of its own, and the verdict that it comes from."""
    results = reader.log(log.path, task.test_command)
    verdict = _verdict(results, task)
    tests = jsonio.dumps(dict(results.statuses)) if results.statuses else None
    detail = f"log: {verdict.why}" if verdict.kind is None else f"log: {verdict.kind}: {verdict.why}"
    return Outcome(rollout_id, f"harness:{log.place}", verdict.outcome, detail[:500], tests, log.digest), verdict


def _verdict(results: Results, task: Task) -> Verdict:
    """The verdict; a log holds no exit code, so that of a task without listed tests is what its tests say."""
    good = all(status in GOOD or status == "skipped" for status in results.statuses.values())
    return compare(results, task.fail_to_pass, task.pass_to_pass, 0 if good else 1)


def _patch(file: FileRef) -> str | None:
    path = file.sibling(PATCH)
    if path is None or path.stat().st_size > MAX_PATCH:
        return None
    return path.read_text("utf-8", "replace")


def _run_of(file: FileRef, task_id: str) -> tuple[str, str | None]:
    """Run and policy: `run_evaluation/<run>/<model>/<task>/`, else the folder's run."""
    folders = file.folders
    if len(folders) >= 4 and folders[-4] == "run_evaluation":
        return folders[-3], folders[-2]
    return run_of_folder(file, task_id), None
