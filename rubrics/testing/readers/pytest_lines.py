"""The lines that pytest 3 to 9 writes: its closing count, its short summary, and a line per test with `-v`.

No regular expression here runs over a part of a line that another one can give back: ids and reasons are cut by
looking for their ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rubrics.testing.results import Status

WORDS: dict[str, Status] = {
    "PASSED": "passed", "FAILED": "failed", "FAIL": "failed", "ERROR": "error", "SKIPPED": "skipped",
    "SKIP": "skipped", "XFAIL": "xfailed", "xfail": "xfailed", "XPASS": "xpassed", "xpass": "xpassed",
}  # fmt: skip
_RERUN = frozenset({"RERUN", "RERUN-PASSED"})
_TOTALS: dict[str, Status] = {
    "passed": "passed", "failed": "failed", "error": "error", "errors": "error", "skipped": "skipped",
    "xfailed": "xfailed", "xpassed": "xpassed",
}  # fmt: skip
_CLOSING = re.compile(
    r"(?:=+ )?(\d{1,9} [a-z]+(?:[ -][a-z]+)?(?:, \d{1,9} [a-z]+(?:[ -][a-z]+)?)*)"
    r" in [\d.:]{1,20} ?s(?:econds?)?(?: \([^()]{1,40}\))?(?: =+)?"
)
_NONE_RAN = re.compile(r"(?:=+ )?no tests (?:ran|collected)\b[^=\n]{0,60}(?: =+)?")
_SUBTEST = re.compile(r"\bSUB(PASS|FAIL|SKIP|XFAIL|XPASS)(?:ED|PED)?\b")
_NAMED = re.compile(r"(?:^| )([^\s\[\]()'\"]+\.\w+::.*)$")
_WORKER = re.compile(r"\[gw\d{1,4}\](?: \[ *\d{1,3}%\])? ")
_PROGRESS = re.compile(r"\[ *(?:\d{1,3}%|\d{1,9}/\d{1,9})\]$")
_FILE = re.compile(r"[^\s:\[\]]+\.\w{1,8}$")


@dataclass(frozen=True, slots=True)
class Line:
    """One test's status, or that of a part of it, as one line gives it."""

    status: Status
    name: str | None
    """The id; null where the line counts tests without naming them."""
    count: int = 1
    part: bool = False
    """Whether it is a subtest: it counts among failures, never among passes."""
    called: bool = False
    """Whether the line says that an expected failure was raised by a call."""


def closing(line: str) -> dict[str, int] | None:
    """The counts of pytest's last line, by word (`passed`, `failed`, `errors`, ...); null for any other line."""
    if not line or (line[0] != "=" and not line[0].isdigit() and line[0] != "n"):
        return None
    if _NONE_RAN.fullmatch(line):
        return {}
    match = _CLOSING.fullmatch(line)
    if match is None:
        return None
    pairs = (part.split(" ", 1) for part in match[1].split(", "))
    return {word: int(number) for number, word in pairs}


def totals(counts: dict[str, int]) -> dict[Status, int]:
    """Tests by status, of the words of a closing line; warnings, reruns and passed subtests are no tests."""
    found: dict[Status, int] = {}
    for word, number in counts.items():
        if (status := _TOTALS.get(word)) is not None:
            found[status] = found.get(status, 0) + number
    return found


def is_id(text: str) -> bool:
    """Whether text begins with an id or a file: a path that ends in a file name, then perhaps `::` and more."""
    return _FILE.match(text.split(" ", 1)[0].split("::", 1)[0]) is not None


def summary(lines: Iterable[str]) -> Iterator[Line]:
    """The lines of the short summary that say a test's status."""
    held: Line | None = None
    for line in lines:
        if held is not None:
            called = line.startswith("  reason: ")
            yield held if not called else Line(held.status, held.name, called=True)
            held = None
        found = _summary_line(line)
        if found is not None and found.status == "xfailed" and not found.called:
            held = found
        elif found is not None:
            yield found
    if held is not None:
        yield held


def _summary_line(line: str) -> Line | None:
    if "SUB" in line and (part := _SUBTEST.search(line)) is not None:
        named = _NAMED.search(line, part.end())
        return Line("failed", _cut(named[1]), part=True) if named and part[1] == "FAIL" else None
    word, _, rest = line.partition(" ")
    status = WORDS.get(word)
    if status is None or not rest:
        return None
    if rest[0] == "[" and status == "skipped":
        number, _, _ = rest[1:].partition("]")
        return Line(status, None, int(number)) if number.isdecimal() and len(number) < 9 else None
    rest = rest.removeprefix("collecting ") if status == "error" else rest
    if not is_id(rest):
        return Line(status, None)
    name = rest.rstrip(" ") if status == "passed" else _cut(rest, blank=status in ("xpassed", "xfailed"))
    return Line(status, plain_id(name), called=rest[len(name) :].startswith(" - reason: "))


def plain_id(name: str) -> str:
    """The id without the `::()` of pytest 3."""
    return name.replace("::()", "")


def _cut(text: str, blank: bool = False) -> str:
    """The id at the beginning of text that goes on with ` - reason`; a blank may also end it where old pytest says so.

    Brackets of a parametrised id hold anything; the id ends behind the first bracket that closes them all, else
    behind the first that a reason may follow.
    """
    start, space = text.find("["), text.find(" ")
    if start < 0 or 0 <= space < start:
        end = text.find(" - ")
        end = space if blank and space >= 0 else end
        return (text if end < 0 else text[:end]).rstrip(" ")
    depth, first = 0, -1
    for match in re.finditer(r"[\[\]]", text[start:]):
        depth += 1 if match[0] == "[" else -1
        end = start + match.end()
        if match[0] == "]" and (end == len(text) or text.startswith(" - " if not blank else " ", end)):
            if depth <= 0:
                return text[:end]
            first = end if first < 0 else first
    return text[:first] if first > 0 else text.rstrip(" ")


def verbose(line: str) -> Line | None:
    """What a whole line of `-v` says: `id STATUS`, with progress behind it, or the line of a worker."""
    if "::" not in line:
        return None
    worker = _WORKER.match(line)
    if worker is not None:
        return _summary_line(line[worker.end() :].rstrip(" "))
    text = without_progress(line)
    if "SUB" in text and (part := _SUBTEST.search(text)) is not None:
        name = begun(text)
        return Line("failed", name, part=True) if name and part[1] == "FAIL" else None
    if text.endswith(")"):
        text = _without_reason(text)
    name, _, word = text.rpartition(" ")
    status = WORDS.get(word)
    return Line(status, plain_id(name)) if status is not None and "::" in name and is_id(name) else None


def is_rerun(line: str) -> bool:
    """Whether the line says that a test is to run again."""
    return without_progress(line).rpartition(" ")[2] in _RERUN


def ends_with_status(line: str) -> Status | None:
    """The status that a line of prints ends with."""
    text = without_progress(line)
    text = _without_reason(f" {text}") if text.endswith(")") else text
    return next((WORDS[word] for word in WORDS if word.isupper() and text.endswith(word)), None)


def begun(line: str) -> str | None:
    """The id of the test that a line begins with, whatever its prints made of the rest."""
    if not is_id(line) or "::" not in line.split(" ", 1)[0]:
        return None
    start, space = line.find("["), line.find(" ")
    return plain_id(line[:space] if 0 <= space < start or (start < 0 <= space) else _cut(line, blank=True))


def without_progress(line: str) -> str:
    """The line without the `[ 50%]` at its end."""
    text = line.rstrip(" ")
    if text.endswith("]") and (found := _PROGRESS.search(text, max(0, len(text) - 24))):
        text = text[: found.start()].rstrip(" ")
    return text


def _without_reason(text: str) -> str:
    """The text without the reason behind the first status that takes one."""
    starts = [text.find(f" {word} (") for word in ("SKIPPED", "XFAIL", "XPASS", "xfail", "xpass")]
    first = min((at for at in starts if at >= 0), default=-1)
    return text if first < 0 else text[: text.index("(", first)].rstrip(" ")
