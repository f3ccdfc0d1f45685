"""Patches as dumps write them: fences taken off, error texts told from diffs. What is a diff stays as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rubrics.ingest.exit_status import classify_exit, is_known, named_in
from rubrics.ingest.items import Note, Source
from rubrics.ingest.values import is_nan

_BLANKS = " \t\r\f\v"
_BLANK_ENDS = re.compile(r"[ \t\r\f\v]\n")
_DIFF = re.compile(r"^(?:diff --git |--- |\+\+\+ |@@ )", re.MULTILINE)
_FENCE = re.compile(r"^```[^\n`]*\r?\n(.*?)(?:^```[ \t]*\r?$|\Z)", re.MULTILINE | re.DOTALL)
_ERROR = re.compile(
    r"error|exception|traceback|timed? ?out|rate.?limit|overloaded|unavailable|too many requests"
    r"|\b(?:429|50[0234]|529)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ReadPatch:
    text: str | None
    exit_status: str | None = None
    """What an error text in place of a patch names; null when the text was no error."""
    written: str | None = None
    """The patch as the dump has it, which is what a harness tested: `""` for a null that says that there is none; null
    when the dump does not say."""
    notes: tuple[Note, ...] = ()


def read_patch(value: object, source: Source, status: str | None = None, *, null_is_none: bool = False) -> ReadPatch:
    """A patch and what had to be done to it. Null stays null, `""` stays `""`.

    `status` is the exit status that the dump gives. Of an attempt that ended by itself the text is the agent's own
    and never taken for an error: an agent that submits an error text has failed. `null_is_none`: in this form null says
    that the attempt has no patch, and not only that it is not known.
    """
    if value is None:
        return ReadPatch(None, written="" if null_is_none else None)
    if is_nan(value):
        detail = "a patch is NaN, which is no text; read as null. Write null, or the diff"
        return ReadPatch(None, notes=(source.note("value_ignored", detail, topic="patch"),))
    if not isinstance(value, str):
        raise source.wrong(f"a patch that is {type(value).__name__}", "text or null", "Write the diff as text.")
    if not value or value.isspace() or _DIFF.search(value):
        return _unfenced(value, source)
    ended_itself = bool(status) and is_known(status) and classify_exit(status) is None
    if not ended_itself and _ERROR.search(value.lstrip().split("\n", 1)[0][:300]):
        status = named_in(value) or f"error text: {' '.join(value.split())[:80]}"
        note = source.note("patch_is_error", f"an error text in place of the patch ({status}); kept without a patch")
        return ReadPatch(None, status, value, (note,))
    note = source.note("patch_not_diff", "a patch without any diff header; kept as it is")
    return ReadPatch(value, None, value, (note,))


def comparable(patch: str | None) -> str:
    """A patch without the blanks at the ends of its lines (CR among them) and the blank lines around it.

    Harnesses and agents write the same patch so: they cut blanks, and an empty line of context is a blank or nothing.
    """
    text = patch or ""
    if _BLANK_ENDS.search(text):
        text = "\n".join(line.rstrip(_BLANKS) for line in text.split("\n"))
    return text.strip()


def is_diff(text: str) -> bool:
    """Whether the text holds a line that only a diff holds."""
    return _DIFF.search(text) is not None


def _unfenced(text: str, source: Source) -> ReadPatch:
    """The inside of the Markdown fence that holds the whole diff; other text as it is."""
    as_it_is = ReadPatch(text, None, text)
    if "```" not in text:
        return as_it_is
    start = _DIFF.search(text)
    fence = _FENCE.search(text)
    if start is None or fence is None or fence.start() > start.start() or not is_diff(fence.group(1)):
        return as_it_is
    if is_diff(text[fence.end() :]):
        return as_it_is
    note = source.note("fenced", "a patch in a Markdown fence; the fence was taken off")
    return ReadPatch(fence.group(1), None, text, (note,))
