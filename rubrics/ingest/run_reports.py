"""SWE-bench reports of a whole run: lists of ids, current and older forms.

| list | outcome |
|---|---|
| `resolved_ids`, `resolved` | passed |
| `unresolved_ids`; older: in `applied` and in `with_logs`, and in no other list that decides | failed |
| `empty_patch_ids`, `no_generation` | failed, no patch |
| `no_apply` | failed, the patch did not apply |
| `error_ids`, `incomplete_ids`, `infra_failure_ids` | infra |
| `install_fail`, `reset_failed`, `test_errored`, `test_timeout` | infra |

An id in lists that exclude each other is unknown, with a line (but an infrastructure failure explains a failure). An id
in other lists alone is not judged: no outcome, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rubrics.ingest.harness import source_name
from rubrics.ingest.items import FileRef, Item, Note, Recorded, RunName, Source
from rubrics.ingest.names import folder_run, stem
from rubrics.ingest.values import Row, inside, text_or_none, whole
from rubrics.ingest.verdicts import BROKEN, NO_PATCH, NOT_APPLIED, Verdict, disputed
from rubrics.records.outcomes import OutcomeName

_LISTS: dict[str, tuple[OutcomeName, str | None]] = {
    "resolved_ids": ("passed", None),
    "resolved": ("passed", None),
    "unresolved_ids": ("failed", None),
    "empty_patch_ids": ("failed", NO_PATCH),
    "no_generation": ("failed", NO_PATCH),
    "no_apply": ("failed", NOT_APPLIED),
    "infra_failure_ids": ("infra", "infrastructure failure"),
    **dict.fromkeys(
        ("error_ids", "incomplete_ids", "install_fail", "reset_failed", "test_errored", "test_timeout"),
        ("infra", BROKEN),
    ),
}
_UNDECIDED = ("submitted_ids", "completed_ids", "ambiguous_failure_ids", "generated", "applied", "with_logs", "no_logs")
_COMPANIONS = frozenset({*_LISTS, *_UNDECIDED, "stats", "resolved_per_project"}) - {"resolved", "resolved_ids"}
_MAY_LACK = frozenset({"incomplete_ids", "no_generation"})
"""Lists of tasks that the run did not try: usually the dump has no attempt at them."""


def run_report_marks(document: Row) -> list[str]:
    """The lists by which the document is a report of a whole run; none when it is not one."""
    known = [key for key in document if key in _COMPANIONS]
    if isinstance(document.get("resolved_ids"), list):
        return ["resolved_ids", *known]
    alone = set(document) == {"resolved"}
    if isinstance(document.get("resolved"), list) and (known or alone):
        return ["resolved", *known]
    return []


def read_run_report(document: Row, source: Source) -> Iterator[Item]:
    """The outcomes that a report of a whole run states beyond doubt, and what it states in doubt, counted."""
    run, policy = _run_of_report(document, source.file)
    lists = {key: ids for key in (*_LISTS, *_UNDECIDED) if (ids := _ids(document, key))}
    yield from _counted(document, lists, source)
    said = _said(lists)
    for task_id in sorted(said):
        verdict = _verdict(task_id, said[task_id], source)
        yield from verdict.notes
        reason = text_or_none(inside(document, "failure_reasons"), task_id) if verdict.outcome == "infra" else None
        yield Recorded(
            task_id, run, source, source_name(source), verdict.outcome, policy=policy,
            detail=reason or verdict.detail, patch="" if verdict.detail == NO_PATCH else None,
            may_lack=said[task_id].keys() <= _MAY_LACK,
        )  # fmt: skip
    silent = set[str]().union(*lists.values()) - said.keys()
    if silent:
        detail = "listed, but no list says that their tests ran: no outcome"
        yield source.note("not_judged", detail, subject="outcome", count=len(silent))


def _said(lists: dict[str, set[str]]) -> dict[str, dict[str, tuple[OutcomeName, str | None]]]:
    """Per id, the lists that decide, and how."""
    said: dict[str, dict[str, tuple[OutcomeName, str | None]]] = {}
    for key, answer in _LISTS.items():
        for task_id in lists.get(key, ()):
            said.setdefault(task_id, {})[key] = answer
    for task_id in lists.get("with_logs", set()) & lists.get("applied", set()):
        said.setdefault(task_id, {"applied": ("failed", None)})
    return said


def _verdict(task_id: str, said: dict[str, tuple[OutcomeName, str | None]], source: Source) -> Verdict:
    outcomes = {outcome for outcome, _ in said.values()}
    explained = outcomes == {"failed", "infra"} and "infra_failure_ids" in said
    if len(outcomes) > 1 and not explained:
        return disputed([f"{key} ({outcome})" for key, (outcome, _) in said.items()], source.at(task_id))
    chosen = next(answer for answer in said.values() if not explained or answer[0] == "infra")
    detail = next((detail for outcome, detail in said.values() if outcome == chosen[0] and detail), None)
    return Verdict(chosen[0], detail)


def _ids(document: Row, key: str) -> set[str]:
    """The ids of a list; whole numbers are ids too."""
    return {name for item in _items(document, key) if (name := _id(item)) is not None}


def _counted(document: Row, lists: dict[str, set[str]], source: Source) -> Iterator[Note]:
    """What the report's lists hold that is no id, and where its own counters differ from its lists."""
    for key in (*_LISTS, *_UNDECIDED):
        refused = sum(_id(item) is None for item in _items(document, key))
        if refused:
            detail = f"`{key}` holds what is no id; passed over. Write ids as text"
            yield source.note("id_refused", detail, subject="outcome", count=refused, topic=key)
        stated = whole(document.get(f"{key.removesuffix('_ids')}_instances")) if key.endswith("_ids") else None
        if stated is not None and key in document and stated != len(lists.get(key, ())):
            detail = f"the report counts {stated} in `{key}` and lists {len(lists.get(key, ()))}; the lists count"
            yield source.note("report_counts_differ", detail, topic=key)


def _items(document: Row, key: str) -> list[Any]:
    value = document.get(key)
    return value if isinstance(value, list) else []


def _id(item: object) -> str | None:
    if isinstance(item, str):
        return item if item.strip() else None
    number = whole(item)
    return None if number is None else str(number)


def _run_of_report(document: Row, file: FileRef) -> tuple[RunName, str | None]:
    """Run and policy: a current report is called `<model>.<run>.json`; an older one lies in its run's folder."""
    policy, dot, run = stem(file).rpartition(".")
    if dot and policy and run and ("schema_version" in document or "total_instances" in document):
        return RunName(run, (*file.folders, run)), policy
    return folder_run(file), None
