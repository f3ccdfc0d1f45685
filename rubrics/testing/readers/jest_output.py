"""Output of jest, with `--verbose` or without: then it names failures alone."""

from __future__ import annotations

import re

from rubrics.testing.readers.listing import Groups, agreed, called, cut_off, indent_of
from rubrics.testing.results import Results, Status

_FILE = re.compile(r"(?:PASS|FAIL) (?:\S.* )?(\S+\.\w+)(?: \(\d[\d.]* m?s\))?$")
_TESTS = re.compile(r"Tests: {7}((?:\d{1,9} [a-z]+, )*)(\d{1,9}) total$")
_TIME = re.compile(r" \(\d[\d.]* m?s\)$")
_MARKS: dict[str, Status] = {"✓": "passed", "√": "passed", "✕": "failed", "×": "failed", "○": "skipped", "✎": "skipped"}


def looks_like(text: str) -> bool:
    """Whether jest wrote this."""
    return "\nTests:       " in text


def read(text: str) -> Results:
    """Statuses by `group > title`; marks count below the line of their file alone."""
    pairs: list[tuple[str, Status]] = []
    told: list[tuple[str, str]] = []
    failures: set[str] = set()
    counts: dict[str, int] | None = None
    groups: Groups | None = None
    runs = 0
    for line in text.split("\n"):
        mark = line.lstrip(" ")[:1]
        if line[:4] in ("PASS", "FAIL") and _FILE.match(line):
            groups = Groups()
        elif match := _TESTS.match(line):
            counts = {word: int(number) for number, word in (part.split(" ") for part in match[1].split(", ") if part)}
            groups, runs = None, runs + 1
        elif line.startswith("  ● ") and line.strip() != "● Console":
            groups = None
            if "Test suite failed to run" not in line:
                failures.add(line[4:].replace(" › ", " > "))
        elif groups is not None and mark in _MARKS and line[:2] == "  ":
            indent, title = indent_of(line), line.lstrip(" ")[2:]
            title = title.removeprefix("skipped ").removeprefix("todo ") if mark in "○✎" else title
            plain, around = _TIME.sub("", title), groups.of(indent_of(line))
            name = " > ".join((*around, plain))
            groups.leave(indent)
            pairs.append((name, _MARKS[mark]))
            told += [(what, name) for short in (plain, title) for what in called(around, short)]
        elif groups is not None and line[:2] == "  ":
            groups.enter(indent_of(line), line.strip())
        elif groups is not None and line:
            groups = None
    if counts is None:
        return cut_off("jest")
    stated: dict[Status, int] = {"passed": counts.get("passed", 0), "failed": counts.get("failed", 0)}
    if runs > 1:
        return Results("jest", {}, f"{runs} runs in one log", "two_runs", runs=runs)
    return agreed("jest", pairs, stated, failures=frozenset(failures), described=told, partial=True)
