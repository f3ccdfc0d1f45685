"""SWE-bench harness results: a report per attempt. Joined by run, task and the tested patch.

`eval.sh` and the log are sealed: of the log only the digest is taken. Reports of a whole run: `run_reports`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rubrics import jsonio
from rubrics.ingest.documents import digest_of
from rubrics.ingest.items import FileRef, Item, Recorded, RunName, Source
from rubrics.ingest.names import folder_run
from rubrics.ingest.values import Row
from rubrics.ingest.verdicts import NO_PATCH, verdict_of

LOG = "test_output.txt"
PATCH = "patch.diff"
MAX_PATCH = 16 * 1024**2

_MARKS = ("patch_is_None", "patch_exists", "patch_successfully_applied", "tests_status")


def report_marks(document: Row) -> list[str]:
    """The marks of `{id: {resolved, tests_status, ...}}`; none when some value has none."""
    found = [
        [mark for mark in _MARKS if mark in value] if isinstance(value, dict) else [] for value in document.values()
    ]
    return sorted({mark for marks in found for mark in marks}) if found and all(found) else []


def read_report(document: Row, source: Source) -> Iterator[Item]:
    """The outcomes of a report, usually one."""
    alone = len(document) == 1
    for task_id, result in document.items():
        place = source.at(task_id) if not alone else source
        verdict = verdict_of(result, place)
        yield from verdict.notes
        run, policy, folder_id = _run_of(source.file, task_id)
        if alone and folder_id not in (None, task_id):
            detail = f"the folder is of {folder_id!r}, the report in it of {task_id!r}: given to neither. Correct one"
            yield place.note("outcome_without_rollout", detail, subject="outcome")
            continue
        log = source.file.sibling(LOG) if alone else None
        patch = _patch(source.file) if alone else None
        yield Recorded(
            task_id, run, place, source_name(source), verdict.outcome, policy=policy, detail=verdict.detail,
            tests=_tests(result), log_digest=digest_of(log) if log is not None else None,
            patch="" if patch is None and verdict.detail == NO_PATCH else patch,
        )  # fmt: skip


def source_name(source: Source) -> str:
    """The outcome source that a harness file is."""
    return f"harness:{source.file.relative}"


def _tests(result: Row) -> str | None:
    """JSON of every listed test's status; `success` and `failure` are the report's words."""
    groups = result.get("tests_status")
    statuses: dict[str, str] = {}
    for group in groups.values() if isinstance(groups, Mapping) else ():
        for word, status in (("success", "passed"), ("failure", "failed")):
            names = group.get(word) if isinstance(group, Mapping) else None
            statuses.update({str(name): status for name in names or ()} if isinstance(names, list) else {})
    return jsonio.dumps(statuses) if statuses else None


def _run_of(file: FileRef, task_id: str) -> tuple[RunName, str | None, str | None]:
    """Run, policy and task by `run_evaluation/<run>/<model>/<task>/`, else the folder's run.

    The harness names its runs itself: its folder is not the run's own.
    """
    folders = file.folders
    if len(folders) >= 4 and folders[-4] == "run_evaluation":
        return RunName(folders[-3]), folders[-2], folders[-1]
    return folder_run(file, task_id), None, None


def _patch(file: FileRef) -> str | None:
    """The tested patch, to the byte: line ends count until patches are compared."""
    path = file.sibling(PATCH)
    if path is None or path.stat().st_size > MAX_PATCH:
        return None
    return path.read_bytes().decode("utf-8", "replace")
