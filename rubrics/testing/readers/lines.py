"""A log as plain lines: without colours, carriage returns and the times that a log collector puts before lines.

Everything here is linear in the text. Only the line feed ends a line: other characters that Python takes for line
ends may stand inside of what a test prints.
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b\n]*\x07?|[@-Z\\-_])")
_TIME = re.compile(
    r"^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?(?: |$)", re.MULTILINE
)
LOOKED_AT = 200
"""Lines at the top that decide whether every line begins with a time."""
_START, _END = ">>>>> Start Test Output", ">>>>> End Test Output"


def decoded(data: bytes) -> str:
    """Text of a log: UTF-8, or UTF-16 where it begins so; what is neither becomes U+FFFD."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def hidden_part(text: str) -> str:
    """What stands between the marks that the harness of SWE-bench prints, the whole text where there are none.

    The first mark that begins it and the last that ends it are the harness's: code under test runs between them.
    A log without the end was cut off, and is read to its own end.
    """
    start, end = text.find(_START), text.rfind(_END)
    if start < 0:
        return text
    begin = text.find("\n", start) + 1
    return text[begin : end if end > start else len(text)] if begin else ""


def plain(text: str) -> str:
    """The text without what terminals and log collectors add."""
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _TIME.sub("", text) if _is_timed(text) else text


def _is_timed(text: str) -> bool:
    """Whether nearly every line at the top begins with a time."""
    if not text[:1].isdigit() and text[:1] not in ("[", "\n"):
        return False
    top = [line for line in text[: LOOKED_AT * 200].split("\n")[:LOOKED_AT] if line.strip()]
    return bool(top) and sum(_TIME.match(line) is not None for line in top) >= 0.9 * len(top)


def tail(text: str, count: int) -> list[str]:
    """The last lines that are not blank, at most `count`."""
    found: list[str] = []
    end = len(text)
    while end > 0 and len(found) < count:
        start = text.rfind("\n", 0, end) + 1
        if line := text[start:end].strip():
            found.append(line)
        end = start - 1
    return found[::-1]
