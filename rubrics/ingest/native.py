"""The documented form (docs/formats.md): rows `{"kind": "task" | "rollout" | "outcome", ...}` in JSONL or Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast, get_args

from rubrics import jsonio
from rubrics.errors import InputError
from rubrics.ingest.chat import chat_turns, is_chat
from rubrics.ingest.documents import parse
from rubrics.ingest.items import Attempt, Item, Recorded, Source
from rubrics.ingest.names import run_of_rows
from rubrics.ingest.patches import read_patch
from rubrics.ingest.predictions import claims_in
from rubrics.ingest.tasks import read_task
from rubrics.ingest.turns import MALFORMED, token_sums, tool_calls_of
from rubrics.ingest.values import Row, count, int_or_none, name_of, resolved_or_none, text_or_none, whole
from rubrics.records.outcomes import OutcomeName
from rubrics.records.rollouts import Turn

HARNESS = "native"
KINDS = ("task", "rollout", "outcome")
_ROLES = ("system", "user", "assistant")
_OUTCOMES: tuple[str, ...] = get_args(OutcomeName)


def read_native(row: Row, source: Source, file_name: str) -> Iterator[Item]:
    """One row. `file_name` is the outcome source of outcome rows that name none: `file:<digest>`."""
    if row["kind"] == "task":
        yield from read_task(row, source)
    elif row["kind"] == "rollout":
        yield from _rollout(row, source)
    else:
        yield _outcome(row, source, file_name)


def _rollout(row: Row, source: Source) -> Iterator[Item]:
    yield from claims_in(row, source)
    status = text_or_none(row, "exit_status")
    patch = read_patch(row.get("patch"), source, status)
    yield from patch.notes
    turns = _transcript(row, source)
    sent, received = token_sums(turns or ())
    own_sent, own_received = count(row.get("input_tokens")), count(row.get("output_tokens"))
    yield Attempt(
        task_id=name_of(row, source, "task_id", "instance_id"),
        run=text_or_none(row, "run") or run_of_rows(source.file),
        harness=HARNESS,
        source=source,
        policy=text_or_none(row, "policy"),
        policy_step=int_or_none(row, "policy_step", source),
        attempt=int_or_none(row, "attempt", source),
        group_id=None if row.get("group_id") is None else name_of(row, source, "group_id"),
        patch=patch.text,
        turns=turns,
        exit_status=status or patch.exit_status,
        input_tokens=sent if own_sent is None else own_sent,
        output_tokens=received if own_received is None else own_received,
        snapshot=text_or_none(row, "snapshot"),
        given_id=text_or_none(row, "rollout_id"),
    )


def _outcome(row: Row, source: Source, file_name: str) -> Recorded:
    outcome = row.get("outcome")
    if outcome is None:
        resolved = resolved_or_none(row.get("resolved"), source)
        outcome = "unknown" if resolved is None else "passed" if resolved else "failed"
    if outcome not in _OUTCOMES:
        raise source.wrong(f"outcome {str(outcome)[:40]!r}", f"one of {', '.join(_OUTCOMES)}", "Correct `outcome`.")
    given = text_or_none(row, "source")
    tests = row.get("tests")
    return Recorded(
        task_id=name_of(row, source, "task_id", "instance_id"),
        run=text_or_none(row, "run") or (None if row.get("rollout_id") else run_of_rows(source.file)),
        source=source,
        name=given if given is not None and given.startswith("harness:") else file_name,
        outcome=cast(OutcomeName, outcome),
        policy=text_or_none(row, "policy"),
        attempt=int_or_none(row, "attempt", source),
        given_id=text_or_none(row, "rollout_id"),
        detail=text_or_none(row, "detail"),
        tests=_statuses(tests, source),
        log_digest=text_or_none(row, "log_digest"),
    )


def _statuses(tests: object, source: Source) -> str | None:
    """`{test id: status}` as stored text."""
    if isinstance(tests, str) and tests:
        tests = parse(tests, source, lambda kind, detail: None)
    if not tests:
        return None
    if not isinstance(tests, Mapping):
        raise source.wrong("`tests` that is no object", "an object {test id: status}", "Correct `tests`.")
    return jsonio.dumps({str(name): str(status) for name, status in tests.items()})


def _transcript(row: Row, source: Source) -> tuple[Turn, ...] | None:
    """The turns, from `turns` (the record's own fields) or `messages` (a chat); JSON text of either is read too."""
    for key in ("turns", "messages"):
        value = row.get(key)
        if isinstance(value, str) and value:
            value = parse(value, source, lambda kind, detail: None)
        if not value:
            continue
        if key == "messages" and is_chat(value):
            return chat_turns(value)
        if key == "turns" and isinstance(value, list):
            return _turns(value, source)
        raise source.wrong(f"`{key}` that is no list of objects with roles", "such a list", f"Correct `{key}`.")
    return None


def _turns(items: list[Any], source: Source) -> tuple[Turn, ...]:
    turns: list[Turn] = []
    for number, item in enumerate(items):
        if not (isinstance(item, dict) and item.get("role") in _ROLES and isinstance(item.get("text"), str)):
            raise _bad_turn(number, item, source)
        turns.append(_turn(item))
    return tuple(turns)


def _turn(item: Row) -> Turn:
    calls, flags = item.get("tool_calls"), item.get("flags")
    known = tool_calls_of(calls) if calls else ()
    marks = tuple(str(flag) for flag in flags) if isinstance(flags, list) else ()
    if any(call.arguments is None for call in known) and MALFORMED not in marks:
        marks = (*marks, MALFORMED)
    observation = item.get("observation")
    return Turn(
        role=item["role"],
        text=item["text"],
        reasoning=text_or_none(item, "reasoning"),
        tool_calls=known,
        observation=observation if isinstance(observation, str) else None,
        exit_code=whole(item.get("exit_code")),
        input_tokens=count(item.get("input_tokens")),
        output_tokens=count(item.get("output_tokens")),
        flags=marks,
    )


def _bad_turn(number: int, item: object, source: Source) -> InputError:
    role = item.get("role") if isinstance(item, dict) else type(item).__name__
    return source.wrong(
        f"turn {number} with role {str(role)[:40]!r}", "an object with `role` (system, user, assistant) and `text`",
        "Write tool replies as `observation` of the turn that called, or give the chat as `messages`.",
    )  # fmt: skip
