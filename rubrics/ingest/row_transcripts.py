"""Transcripts that stand in a row beside its patch: read where their form is understood, else digested and named.

Understood are chats in OpenAI's form and SWE-agent's steps. A transcript of another form is never dropped in silence:
the attempt is kept without it, a note names the column, and its digest keeps attempts apart that differ in it alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from rubrics import jsonio
from rubrics.digests import digest128
from rubrics.ingest.chat import SPEAKERS, TOOLS, chat_turns, is_chat
from rubrics.ingest.documents import storable
from rubrics.ingest.items import Note, Source
from rubrics.ingest.swe_agent import is_steps, step_turns
from rubrics.ingest.values import Ignored, Row
from rubrics.records.rollouts import Turn

PATCH_KEYS = ("model_patch", "prediction", "generated_patch")
"""Columns that hold the patch that a model made."""
KEYS = (
    "messages", "trajectory", "history", "completion", "conversations", "conversation", "trajectory_steps", "traj",
    "steps", "events", "turns", "response",
)  # fmt: skip
"""Columns that hold a transcript where they hold a list of objects, in the order in which one is looked for."""
_AS_TEXT = frozenset(KEYS) - {"steps", "events", "turns"}
_INNER = ("output", "messages", "history", "steps", "choices")

_LIST = re.compile(r"\s*\[\s*[\[{]")


@dataclass(frozen=True, slots=True)
class RowTranscript:
    turns: tuple[Turn, ...] | None
    unread: str | None
    """Digest of what was not understood; null when a transcript was read or there is none."""
    notes: tuple[Note, ...]


def transcript_keys(row: Row) -> list[str]:
    """The columns of the row that hold a transcript, as `column` or `column.inner`."""
    return [name for key in KEYS if key in row and (name := _where(key, row[key])) is not None]


def holds_attempt(row: Row) -> bool:
    """Whether the row holds a patch that a model made, or a transcript."""
    return any(key in row for key in PATCH_KEYS) or bool(transcript_keys(row))


def read_transcript(row: Row, source: Source, ignored: Ignored) -> RowTranscript:
    """The transcript of the row, if it has one. `ignored` collects the numbers in it that are read as null."""
    keys = transcript_keys(row)
    values = {key: _value(row, key) for key in keys}
    for key, value in values.items():
        if (turns := _turns(key, value, row, ignored)) is not None:
            detail = f"holds a transcript too; that of `{key}` is read"
            others = (other for other in keys if other != key)
            notes = tuple(source.note("column_dropped", f"`{other}` {detail}", topic=other) for other in others)
            return RowTranscript(turns, None, notes)
    if not keys:
        return RowTranscript(None, None, ())
    detail = "holds a transcript of a form that is not read; the rollout is kept without it"
    notes = tuple(source.note("transcript_not_read", f"`{key}` {detail}", topic=key) for key in keys)
    return RowTranscript(None, digest128([jsonio.dumps(values)]), notes)


def _where(key: str, value: object) -> str | None:
    """The place of a transcript under `key`; null when there is none."""
    if isinstance(value, Mapping):
        return next((f"{key}.{inner}" for inner in _INNER if _is_list(value.get(inner))), None)
    if isinstance(value, str):
        return key if value.strip() and (key in _AS_TEXT or _LIST.match(value)) else None
    return key if _is_list(value) else None


def _is_list(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(item, (Mapping, list)) for item in value)


def _value(row: Row, name: str) -> Any:
    key, _, inner = name.partition(".")
    value = row[key][inner] if inner else row[key]
    if isinstance(value, str) and _LIST.match(value):
        try:
            return storable(jsonio.loads(value))
        except (ValueError, RecursionError):
            return value
    return value


def _turns(key: str, value: Any, row: Row, ignored: Ignored) -> tuple[Turn, ...] | None:
    if is_plain_chat(value):
        prompt = row.get("prompt") if key == "completion" else None
        whole = [*prompt, *value] if is_plain_chat(prompt, spoken=False) else value
        return chat_turns(whole, ignored=ignored)
    return step_turns(value) if is_steps(value) else None


def is_plain_chat(value: object, *, spoken: bool = True) -> TypeGuard[list[dict[str, Any]]]:
    """Whether the value is a chat in OpenAI's form, every part of which is understood. `spoken`: the model says
    something."""
    if not is_chat(value) or not all(map(_is_message, value)):
        return False
    return not spoken or any(message["role"] == "assistant" for message in value)


def _is_message(message: Mapping[str, Any]) -> bool:
    calls = message.get("tool_calls")
    known = isinstance(message["role"], str) and message["role"] in {*SPEAKERS, *TOOLS}
    said = isinstance(message.get("content"), (str, list)) or (message.get("content") is None and "content" in message)
    called = calls is None or (isinstance(calls, list) and all(isinstance(call, Mapping) for call in calls))
    return known and called and (said or bool(calls))
