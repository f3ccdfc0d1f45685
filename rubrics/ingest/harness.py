"""SWE-bench harness results: a report per attempt, and reports of a whole run.

Joined by run and task. `eval.sh` and the log are sealed: of the log only the digest is taken.

A report of a run lists ids. Listed as resolved is passed. Not listed as resolved is failed only where another list says
that the tests ran: `unresolved_ids`; or both listed as applied (`applied`) and as having a log (`with_logs`), and in no
list that says the run broke. Everything else (not generated, did not apply, empty patch, error, time-out of the tests,
not listed at all) is not judged: no outcome, one census line with the count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rubrics import jsonio
from rubrics.ingest.documents import digest_of
from rubrics.ingest.items import FileRef, Item, Recorded, Source
from rubrics.ingest.names import run_of_folder, stem
from rubrics.ingest.values import Row, resolved_or_none, text_or_none
from rubrics.records.outcomes import OutcomeName

LOG = "test_output.txt"
PATCH = "patch.diff"
MAX_PATCH = 16 * 1024**2

_BROKEN = ("no_generation", "install_fail", "reset_failed", "no_apply", "test_errored", "test_timeout")
_LISTED = (
    "submitted_ids",
    "completed_ids",
    "empty_patch_ids",
    "error_ids",
    "ambiguous_failure_ids",
    "generated",
    *_BROKEN,
)
_MARKS = ("patch_is_None", "patch_exists", "patch_successfully_applied", "tests_status")
_COMPANIONS = ("applied", "with_logs", "generated", "no_generation", "no_logs", "no_apply")


def is_report(document: Row) -> bool:
    """Whether the document is `{id: {resolved, tests_status, ...}}`."""
    return bool(document) and all(
        isinstance(value, dict) and any(mark in value for mark in _MARKS) for value in document.values()
    )


def is_run_report(document: Row) -> bool:
    """Whether the document lists the ids that a whole run resolved."""
    if isinstance(document.get("resolved_ids"), list):
        return True
    return isinstance(document.get("resolved"), list) and any(key in document for key in _COMPANIONS)


def read_report(document: Row, source: Source) -> Iterator[Item]:
    """The outcomes of a report, usually one."""
    for task_id, result in document.items():
        place = source.at(task_id) if len(document) > 1 else source
        resolved = resolved_or_none(result.get("resolved"), place)
        outcome, detail = _verdict(result, resolved)
        run, policy = _run_of(source.file, task_id)
        alone = len(document) == 1
        log = source.file.sibling(LOG) if alone else None
        yield Recorded(
            task_id, run, place, _name(source), outcome, policy=policy, detail=detail, tests=_tests(result),
            log_digest=digest_of(log) if log is not None else None, patch=_patch(source.file) if alone else None,
        )  # fmt: skip


def read_run_report(document: Row, source: Source) -> Iterator[Item]:
    """The outcomes that a report of a whole run states beyond doubt."""
    run, policy = _run_of_report(document, source.file)
    outcomes: dict[str, OutcomeName] = {}
    if "with_logs" in document and "applied" in document:
        ran = _ids(document, "with_logs") & _ids(document, "applied")
        outcomes.update(dict.fromkeys(ran.difference(*(_ids(document, key) for key in _BROKEN)), "failed"))
    outcomes.update(dict.fromkeys(_ids(document, "unresolved_ids"), "failed"))
    outcomes.update(dict.fromkeys(_ids(document, "resolved_ids") | _ids(document, "resolved"), "passed"))
    outcomes.update(dict.fromkeys(_ids(document, "infra_failure_ids"), "infra"))
    for task_id in sorted(outcomes):
        yield Recorded(task_id, run, source, _name(source), outcomes[task_id], policy=policy)
    silent = set[str]().union(*(_ids(document, key) for key in _LISTED)) - outcomes.keys()
    if silent:
        detail = "listed, but no list says that their tests ran: no outcome"
        yield source.note("not_judged", detail, subject="outcome", count=len(silent))


def _verdict(result: Row, resolved: bool | None) -> tuple[OutcomeName, str | None]:
    if result.get("infra_failure") is True:
        return "infra", text_or_none(result, "infra_failure_reason")
    if resolved is None:
        return "unknown", "the report does not say"
    if resolved:
        return "passed", None
    if result.get("patch_is_None") is True or result.get("patch_exists") is False:
        return "failed", "no patch"
    if result.get("patch_successfully_applied") is False:
        return "failed", "patch did not apply"
    return "failed", None


def _tests(result: Row) -> str | None:
    """JSON of every listed test's status; `success` and `failure` are the report's words."""
    groups = result.get("tests_status")
    statuses: dict[str, str] = {}
    for group in groups.values() if isinstance(groups, Mapping) else ():
        for word, status in (("success", "passed"), ("failure", "failed")):
            names = group.get(word) if isinstance(group, Mapping) else None
            statuses.update({str(name): status for name in names or ()} if isinstance(names, list) else {})
    return jsonio.dumps(statuses) if statuses else None


def _run_of(file: FileRef, task_id: str) -> tuple[str, str | None]:
    """Run and policy: `run_evaluation/<run>/<model>/<task>/`, else the folder's run."""
    folders = file.folders
    if len(folders) >= 4 and folders[-4] == "run_evaluation":
        return folders[-3], folders[-2]
    return run_of_folder(file, task_id), None


def _run_of_report(document: Row, file: FileRef) -> tuple[str, str | None]:
    """Run and policy: a current report is called `<model>.<run>.json`; an older one lies in its run's folder."""
    policy, dot, run = stem(file).rpartition(".")
    if dot and policy and run and ("schema_version" in document or "total_instances" in document):
        return run, policy
    return run_of_folder(file), None


def _ids(document: Row, key: str) -> set[str]:
    value: Any = document.get(key)
    return {item for item in value if isinstance(item, str)} if isinstance(value, list) else set()


def _patch(file: FileRef) -> str | None:
    path = file.sibling(PATCH)
    if path is None or path.stat().st_size > MAX_PATCH:
        return None
    return path.read_text("utf-8", "replace")


def _name(source: Source) -> str:
    return f"harness:{source.file.relative}"
