"""The documented form (docs/formats.md): rows `{"kind": "task" | "rollout" | "outcome", ...}` in JSONL or Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast, get_args

from rubrics import jsonio
from rubrics.errors import InputError
from rubrics.ingest.chat import chat_turns, is_chat
from rubrics.ingest.claims import claims_of
from rubrics.ingest.columns import ROLLOUT, content_digest, misspelt, misspelt_notes
from rubrics.ingest.documents import parse
from rubrics.ingest.extra import Extra
from rubrics.ingest.items import Attempt, Item, Recorded, RunName, Source
from rubrics.ingest.names import rows_run
from rubrics.ingest.patches import read_patch
from rubrics.ingest.tasks import read_task
from rubrics.ingest.turns import MALFORMED, token_sums, tool_calls_of
from rubrics.ingest.values import Fields, Ignored, Row, is_nan, text_or_none
from rubrics.ingest.verdicts import Verdict, disputed, read_resolved, verdict_of
from rubrics.records.outcomes import OutcomeName
from rubrics.records.rollouts import Turn

HARNESS = "native"
KINDS = ("task", "rollout", "outcome")
_ROLES = ("system", "user", "assistant")
_OUTCOMES: tuple[str, ...] = get_args(OutcomeName)


def native_marks(row: Row) -> list[str]:
    """The mark of a native row: a `kind` of ours."""
    kind = row.get("kind")
    return [f"`kind` {kind}"] if isinstance(kind, str) and kind in KINDS else []


def read_native(row: Row, source: Source, file_name: str, trust_recorded: bool = False) -> Iterator[Item]:
    """One row. `file_name` is the outcome source of outcome rows that name none: `file:<digest>`."""
    if row["kind"] == "task":
        yield from read_task(row, source)
    elif row["kind"] == "rollout":
        yield from _rollout(row, source, trust_recorded)
    else:
        yield from _outcome(row, source, file_name)


def _rollout(row: Row, source: Source, trust_recorded: bool) -> Iterator[Item]:
    fields = Fields(row, source)
    measured, notes = claims_of(row, source, HARNESS, trust_recorded)
    status = fields.text("exit_status")
    patch = read_patch(row.get("patch"), source, status)
    turns = _transcript(row, source, fields.ignored)
    sent, received = token_sums(turns or ())
    own_sent, own_received = fields.count("input_tokens"), fields.count("output_tokens")
    step = fields.whole("policy_step")
    run = fields.name("run")
    wrong = misspelt(row, ROLLOUT)
    extra = Extra(source)
    extra.add_all(row, frozenset({*ROLLOUT, *wrong}))
    yield Attempt(
        task_id=fields.required("task_id", "instance_id"),
        run=rows_run(source.file) if run is None else RunName(run),
        harness=HARNESS,
        source=source,
        policy=fields.name("policy"),
        policy_step=step,
        step_unread=step is None and row.get("policy_step") not in (None, ""),
        attempt=fields.index("attempt"),
        group_id=None if row.get("group_id") is None or is_nan(row["group_id"]) else fields.required("group_id"),
        patch=patch.text,
        written=patch.written,
        turns=turns,
        unread=content_digest(row, wrong),
        exit_status=status or patch.exit_status,
        input_tokens=sent if own_sent is None else own_sent,
        output_tokens=received if own_received is None else own_received,
        snapshot=fields.text("snapshot"),
        given_id=fields.name("rollout_id"),
        extra=extra.text,
        measured=measured,
    )
    yield from (*patch.notes, *notes, *extra.notes(), *fields.notes)
    yield from misspelt_notes(wrong, "native rollout", source)


def _outcome(row: Row, source: Source, file_name: str) -> Iterator[Item]:
    fields = Fields(row, source)
    verdict = _stated(row, source)
    yield from verdict.notes
    given, given_id, run = fields.text("source"), fields.name("rollout_id"), fields.name("run")
    own_run = None if given_id is not None else rows_run(source.file)
    yield Recorded(
        task_id=fields.required("task_id", "instance_id"),
        run=own_run if run is None else RunName(run),
        source=source,
        name=given if given is not None and given.startswith("harness:") else file_name,
        outcome=verdict.outcome,
        policy=fields.name("policy"),
        attempt=fields.index("attempt"),
        given_id=given_id,
        detail=fields.text("detail") or verdict.detail,
        tests=_statuses(row.get("tests"), source),
        log_digest=fields.text("log_digest"),
    )
    yield from fields.notes


def _stated(row: Row, source: Source) -> Verdict:
    """What the row says: `outcome` where it has one, else `resolved` and what belongs to it; both must agree."""
    outcome = row.get("outcome")
    if outcome is None or is_nan(outcome):
        return verdict_of(row, source)
    if outcome not in _OUTCOMES:
        detail = f"`outcome` = {outcome!r:.60} is none of {', '.join(_OUTCOMES)}: the outcome is unknown. Correct it"
        note = source.note("outcome_refused", detail, subject="outcome")
        return Verdict("unknown", "`outcome` is of no form that counts", (note,))
    if outcome not in ("passed", "failed"):
        return Verdict(cast(OutcomeName, outcome))
    other, notes = read_resolved(row.get("resolved"), "resolved", source)
    if other is not None and other != (outcome == "passed"):
        return disputed([f"`outcome` is {outcome}", f"`resolved` is {str(other).lower()}"], source, notes)
    verdict = verdict_of({**row, "resolved": outcome == "passed"}, source)
    return replace(verdict, notes=(*notes, *verdict.notes))


def _statuses(tests: object, source: Source) -> str | None:
    """`{test id: status}` as stored text."""
    if isinstance(tests, str) and tests:
        tests = parse(tests, source, lambda kind, detail: None)
    if not tests or is_nan(tests):
        return None
    if not isinstance(tests, Mapping):
        raise source.wrong("`tests` that is no object", "an object {test id: status}", "Correct `tests`.")
    return jsonio.dumps({str(name): str(status) for name, status in tests.items()})


def _transcript(row: Row, source: Source, ignored: Ignored) -> tuple[Turn, ...] | None:
    """The turns, from `turns` (the record's own fields) or `messages` (a chat); JSON text of either is read too."""
    for key in ("turns", "messages"):
        value = row.get(key)
        if isinstance(value, str) and value:
            value = parse(value, source, lambda kind, detail: None)
        if not value or is_nan(value):
            continue
        if key == "messages" and is_chat(value):
            return chat_turns(value, ignored=ignored)
        if key == "turns" and isinstance(value, list):
            return _turns(value, source, ignored)
        raise source.wrong(f"`{key}` that is no list of objects with roles", "such a list", f"Correct `{key}`.")
    return None


def _turns(items: list[Any], source: Source, ignored: Ignored) -> tuple[Turn, ...]:
    turns: list[Turn] = []
    for number, item in enumerate(items):
        if not (isinstance(item, dict) and item.get("role") in _ROLES and isinstance(item.get("text"), str)):
            raise _bad_turn(number, item, source)
        turns.append(_turn(item, ignored))
    return tuple(turns)


def _turn(item: Row, ignored: Ignored) -> Turn:
    calls, flags = item.get("tool_calls"), item.get("flags")
    known = tool_calls_of(calls) if calls else ()
    marks = tuple(str(flag) for flag in flags) if isinstance(flags, list) else ()
    if known and any(call.arguments is None for call in known) and MALFORMED not in marks:
        marks = (*marks, MALFORMED)
    observation = item.get("observation")
    return Turn(
        role=item["role"],
        text=item["text"],
        reasoning=text_or_none(item, "reasoning"),
        tool_calls=known,
        observation=observation if isinstance(observation, str) else None,
        exit_code=ignored.whole(item, "exit_code"),
        input_tokens=ignored.count(item, "input_tokens"),
        output_tokens=ignored.count(item, "output_tokens"),
        flags=marks,
    )


def _bad_turn(number: int, item: object, source: Source) -> InputError:
    role = item.get("role") if isinstance(item, dict) else type(item).__name__
    return source.wrong(
        f"turn {number} with role {str(role)[:40]!r}", "an object with `role` (system, user, assistant) and `text`",
        "Write tool replies as `observation` of the turn that called, or give the chat as `messages`.",
    )  # fmt: skip
