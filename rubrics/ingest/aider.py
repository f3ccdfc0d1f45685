"""aider benchmark results: `<id>.json` with every try, `<id>.md` with the chat.

Of the JSON the final `model_patch` is read and what else is plain is kept (cost, tries, files): `gold_files` gives the
answer away, `resolved` and `test_outcome` are claims of the attempt. The tries are one attempt, and the chat of all of
them is its transcript.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from rubrics import jsonio
from rubrics.ingest.claims import claims_of
from rubrics.ingest.documents import decode, storable
from rubrics.ingest.extra import Extra
from rubrics.ingest.items import Attempt, FileRef, Item, Note, Source
from rubrics.ingest.names import folder_run, stem
from rubrics.ingest.patches import read_patch
from rubrics.ingest.turns import TranscriptBuilder, assistant_turns, token_sums
from rubrics.ingest.values import Fields, Row
from rubrics.records.rollouts import ToolCall, Turn

HARNESS = "aider"
CHAT_START = "# aider chat started at "
MAX_CHAT = 64 * 1024**2
"""Largest chat file, in bytes."""

_MARKS = ("all_results", "tries", "edit_outcome")
_KNOWN = frozenset({"instance_id", "model_name_or_path", "model", "model_patch", "all_results"})
_TOKENS = re.compile(r"> ([\d.,]+)(k?) prompt tokens, ([\d.,]+)(k?) completion tokens")
_FENCE = re.compile(r"^`{3,}")


def aider_marks(row: Row) -> list[str]:
    """The marks of a result of aider's benchmark; none without a task or a patch."""
    if "instance_id" not in row or "model_patch" not in row:
        return []
    found = [f"`{key}`" for key in _MARKS if key in row]
    return ["`model_patch`", *found] if found else []


def read_aider(document: Row, source: Source, trust_recorded: bool = False) -> Iterator[Item]:
    """One result, with its chat where the dump holds it beside."""
    fields = Fields(document, source)
    task_id = fields.required("instance_id")
    measured, claims = claims_of(document, source, HARNESS, trust_recorded)
    patch = read_patch(document.get("model_patch"), source, null_is_none=True)
    extra = Extra(source)
    extra.add_all(document, _KNOWN)
    chat = source.file.sibling(f"{stem(source.file)}.md")
    turns, notes = None, list[Note]()
    if chat is not None and chat.stat().st_size <= MAX_CHAT:
        text, notes = _text(chat.read_bytes(), source)
        turns = chat_turns(text)
    elif chat is not None:
        notes = [source.note("transcript_not_read", f"a chat above {MAX_CHAT:,} bytes; the attempt is kept without it")]
    row = Attempt(
        task_id, folder_run(source.file, task_id), HARNESS, source, policy=fields.name("model_name_or_path", "model"),
        patch=patch.text, written=patch.written, exit_status=patch.exit_status, extra=extra.text, own_file=True,
        measured=measured,
    )  # fmt: skip
    yield _attempt(row, turns)
    yield from (*patch.notes, *claims, *notes, *extra.notes(), *fields.notes)


def read_chat_alone(file: FileRef, data: bytes) -> Iterator[Item]:
    """A chat whose result is not in the dump: an attempt whose patch is not known."""
    text, notes = _text(data, Source(file))
    row = Attempt(stem(file), folder_run(file, stem(file)), HARNESS, Source(file), own_file=True)
    yield _attempt(row, chat_turns(text))
    yield from notes


def has_result(file: FileRef) -> bool:
    """Whether the result that a chat belongs to lies beside it, and is one."""
    path = file.sibling(f"{stem(file)}.json")
    if path is None or path.stat().st_size > MAX_CHAT:
        return path is not None
    try:
        value = jsonio.loads(path.read_bytes())
    except ValueError:
        return False
    return isinstance(value, dict) and bool(aider_marks(value))


def chat_turns(text: str) -> tuple[Turn, ...]:
    """Turns of a chat file: `#### ` lines are the user's, `> ` lines are the console's, the rest is the model's."""
    builder = TranscriptBuilder()
    tokens: tuple[int | None, int | None] = (None, None)
    opening = True
    for kind, lines in _blocks(text):
        if kind == "header":
            opening = True
        elif kind == "console":
            tokens = next((_counts(found) for line in lines if (found := _TOKENS.match(line))), tokens)
            said = "\n".join(line[2:].rstrip(" ") for line in lines if not (opening and _TOKENS.match(line)))
            if said and opening:
                builder.say("system", said)
            elif said:
                builder.observe(said)
        elif kind == "user":
            builder.say("user", "\n".join(line[5:].removesuffix("  ") for line in lines))
        elif said := "\n".join(lines).strip("\n"):
            builder.say("assistant", said, calls=_edits(lines), tokens=tokens)
            tokens, opening = (None, None), False
    return builder.turns()


def _attempt(row: Attempt, turns: tuple[Turn, ...] | None) -> Attempt:
    """The row's attempt with its transcript and tokens. A chat in which the model said nothing is no transcript."""
    sent, received = token_sums(turns or ())
    spoken = turns if turns and assistant_turns(turns) else None
    return replace(row, turns=spoken, input_tokens=sent, output_tokens=received)


def _text(data: bytes, source: Source) -> tuple[str, list[Note]]:
    notes: dict[str, str] = {}
    text = str(storable(decode(data, notes.__setitem__)))
    return text, [source.note(kind, f"chat: {detail}") for kind, detail in notes.items()]


def _blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Neighbouring lines of one kind. A chat begins with a `header`."""
    kind, lines = "model", list[str]()
    for line in text.split("\n"):
        found = _kind(line)
        if found != kind:
            if lines:
                yield kind, lines
            kind, lines = found, []
        lines.append(line)
    if lines:
        yield kind, lines


def _kind(line: str) -> str:
    """The console and the user end every line with two blanks; the model's own quotes and headings do not."""
    if line.startswith(CHAT_START):
        return "header"
    marked = line.rstrip("\r").endswith("  ") or line.rstrip() in (">", "####")
    if marked and line.startswith(">"):
        return "console"
    return "user" if marked and line.startswith("####") else "model"


def _counts(found: re.Match[str]) -> tuple[int | None, int | None]:
    return _number(found[1], found[2]), _number(found[3], found[4])


def _number(digits: str, thousands: str) -> int | None:
    try:
        return round(float(digits.replace(",", "")) * (1000 if thousands else 1))
    except (ValueError, OverflowError):
        return None


def _edits(lines: list[str]) -> tuple[ToolCall, ...]:
    """SEARCH/REPLACE blocks as calls of `edit`; one that does not end has no arguments."""
    calls: list[ToolCall] = []
    path, start, middle = "", None, None
    for number, line in enumerate(lines):
        mark = line.rstrip()
        if start is None:
            if mark == "<<<<<<< SEARCH":
                start, middle = number, None
            elif mark and not _FENCE.match(mark):
                path = mark.strip("`* ")
        elif mark == "=======" and middle is None:
            middle = number
        elif mark == ">>>>>>> REPLACE":
            calls.append(_edit(path, lines, start, middle, number))
            start = None
    if start is not None:
        calls.append(ToolCall("edit", None, "\n".join(lines[start:])))
    return tuple(calls)


def _edit(path: str, lines: list[str], start: int, middle: int | None, end: int) -> ToolCall:
    raw = "\n".join(lines[start : end + 1])
    if middle is None:
        return ToolCall("edit", None, raw)
    search, replace = "\n".join(lines[start + 1 : middle]), "\n".join(lines[middle + 1 : end])
    return ToolCall("edit", {"path": path, "search": search, "replace": replace}, raw)
