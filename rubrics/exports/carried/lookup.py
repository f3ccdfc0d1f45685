"""Stored rewards, found by rollout_id, else by what the completion says. Reads `lookup.jsonl` beside this file."""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path
from typing import Any

Row = dict[str, Any]
_ROWS: dict[str, Row] = {}
_BY_DIGEST: dict[str, list[Row]] = {}


def completion_digest(completion: Any) -> str:
    """128-bit digest of a completion: a text, or a list of chat messages. A text is one assistant message."""
    messages = [{"role": "assistant", "content": completion}] if isinstance(completion, str) else completion
    told = [[message["role"], _text(message.get("content")), _calls(message)] for message in messages]
    text = json.dumps(told, ensure_ascii=True, separators=(",", ":"))
    return blake2b(text.encode("ascii"), digest_size=16).hexdigest()


def find(rollout_id: str | None = None, completion: Any = None, group_id: str | None = None) -> Row | None:
    """The stored row of a rollout: `reward` and `advantage`. None when nothing stored is meant, or not one thing.

    Equal completions of several rollouts are told apart by `group_id`; when they still differ in reward, none is meant.
    """
    _load()
    if rollout_id is not None:
        return _ROWS.get(rollout_id)
    if completion is None:
        return None
    rows = _BY_DIGEST.get(completion_digest(completion), [])
    if group_id is not None:
        rows = [row for row in rows if row["group_id"] == group_id]
    meant = {(row["reward"], row["advantage"]) for row in rows}
    return rows[0] if len(meant) == 1 else None


def _load() -> None:
    if _ROWS:
        return
    for line in Path(__file__).with_name("lookup.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        _ROWS[row["rollout_id"]] = row
        _BY_DIGEST.setdefault(row["completion_digest"], []).append(row)


def _text(content: Any) -> str:
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content)
    return (content or "").strip()


def _calls(message: Any) -> list[list[str]]:
    functions = [call["function"] for call in message.get("tool_calls") or ()]
    return [[function["name"], _arguments(function["arguments"])] for function in functions]


def _arguments(arguments: Any) -> str:
    """One form for arguments as JSON text and as an object."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return str(arguments)
    return json.dumps(arguments, sort_keys=True, separators=(",", ":"))
