"""pytest's own output: the lines of `-rA` and `-v`, and the closing count."""

from __future__ import annotations

import re

from rubrics.testing.results import Results, Status, gathered

_WORDS: dict[str, Status] = {
    "PASSED": "passed", "FAILED": "failed", "ERROR": "error", "SKIPPED": "skipped", "XFAIL": "xfailed",
    "XPASS": "xpassed",
}  # fmt: skip
_SUMMARY = re.compile(r"^=+ short test summary info =+$", re.MULTILINE)
_CLOSING = re.compile(
    r"^(?:=+ )?(?P<counts>(?:\d+ [a-z]+(?:, )?)+) in [\d.]+ ?s(?:econds)?(?: \([\d:]+\))?(?: =+)?$", re.MULTILINE
)
_NONE_RAN = re.compile(r"^(?:=+ )?no tests (?:ran|collected).*$", re.MULTILINE)
_LISTED = re.compile(rf"^({'|'.join(_WORDS)}) (\S.*)$")
_VERBOSE = re.compile(rf"^(\S+::.*?) ({'|'.join(_WORDS)})(?: \(.*\))?(?: +\[ *\d+%\])?$")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def looks_like(text: str) -> bool:
    """Whether pytest wrote this."""
    return re.search(r"^=+ test session starts =+$", _ANSI.sub("", text), re.MULTILINE) is not None


def closing_counts(text: str) -> dict[str, int] | None:
    """The counts of pytest's last line, by word (`passed`, `failed`, `errors`...); null without that line."""
    plain = _ANSI.sub("", text)
    found = list(_CLOSING.finditer(plain))
    if not found:
        return {} if _NONE_RAN.search(plain) else None
    pairs = (part.split() for part in found[-1]["counts"].split(", "))
    return {word: int(number) for number, word in pairs}


def read(text: str) -> Results:
    """Statuses that pytest itself lists: after the last summary heading, else the lines of `-v`.

    What tests print stands elsewhere; a line of theirs that looks like a status is not read after the heading, and
    the closing count has to agree with what was read.
    """
    plain = _ANSI.sub("", text).replace("\r\n", "\n")
    counts = closing_counts(plain)
    if counts is None:
        return Results("pytest", {}, "pytest did not write its closing line: the run ended before its end")
    headings = list(_SUMMARY.finditer(plain))
    verbose = gathered([(match[1], _WORDS[match[2]]) for line in plain.splitlines() if (match := _VERBOSE.match(line))])
    listed = gathered(_listed(plain[headings[-1].end() :])) if headings else {}
    statuses = {**verbose, **listed}
    passed = sum(status == "passed" for status in statuses.values())
    if passed != counts.get("passed", 0):
        problem = f"{passed} tests are listed as passed, pytest counted {counts.get('passed', 0)}"
        return Results("pytest", statuses, problem if passed > counts.get("passed", 0) else None)
    return Results("pytest", statuses)


def _listed(section: str) -> list[tuple[str, Status]]:
    pairs = []
    for line in section.splitlines():
        match = _LISTED.match(line)
        if match and not (match[1] == "SKIPPED" and match[2].startswith("[")):
            name = match[2] if match[1] == "PASSED" else match[2].split(" - ", 1)[0]
            pairs.append((name.strip(), _WORDS[match[1]]))
    return pairs
