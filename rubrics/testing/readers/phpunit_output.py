"""Output of PHPUnit with `--testdox`; other formats name failures alone."""

from __future__ import annotations

import re

from rubrics.testing.readers.listing import agreed, cut_off
from rubrics.testing.results import Results, Status

_COUNTS = re.compile(r"Tests: (\d{1,9}), Assertions: \d{1,9}((?:, [A-Z][A-Za-z ]*: \d{1,9})*)\.$")
_OK = re.compile(r"OK \((\d{1,9}) tests?, \d{1,9} assertions?\)$")
_FAILURE = re.compile(r"\d{1,9}\) (\S+::\S.*)$")
_CLASS = re.compile(r"(\S.*?)(?: \(([\w\\]+)\))?$")
_MARKS: dict[str, Status] = {
    "✔": "passed", "✓": "passed", "⚠": "passed", "✘": "failed", "✗": "failed", "↩": "skipped", "∅": "skipped",
    "☢": "skipped",
}  # fmt: skip
_BAD = ("Errors", "Failures")
_NOT_PASSED = ("Skipped", "Incomplete", "Risky")


def looks_like(text: str) -> bool:
    """Whether PHPUnit wrote this."""
    return "PHPUnit " in text and any(
        line.startswith(("OK (", "Tests: ", "OK, but ")) for line in text[-4000:].split("\n")
    )


def read(text: str) -> Results:
    """Statuses by `Class::title`, as `--testdox` words them; failures also by `Class::method`."""
    pairs: list[tuple[str, Status]] = []
    told: list[tuple[str, str]] = []
    failures: list[str] = []
    counts: dict[str, int] | None = None
    bad: set[str] = set()
    owner, closed, section, ended, summed = "", 0, "", False, False
    for line in text.split("\n"):
        words = line.strip(" ")
        ended = ended or line.startswith("Time: ")
        summed = summed or (ended and line.startswith("Summary of non-successful tests:"))
        if match := _OK.match(line):
            counts, closed = {"Tests": int(match[1])}, closed + 1
        elif match := _COUNTS.match(line):
            parts = [part.split(": ") for part in match[2].split(", ") if part]
            counts, closed = {"Tests": int(match[1]), **{word: int(number) for word, number in parts}}, closed + 1
        elif line.startswith(("There was ", "There were ")):
            section = line
        elif ("failure" in section or "error" in section) and (match := _FAILURE.match(line)):
            failures.append(match[1])
        elif summed and words[:1] in _MARKS and _MARKS[words[0]] == "failed":
            bad.add(f"{owner}::{words[2:]}")
        elif not ended and words[:1] in _MARKS and line[:1] == " " and words[1:2] == " ":
            name = f"{owner}::{words[2:]}"
            pairs.append((name, _MARKS[words[0]]))
            told += [(words[2:], name), (f"{owner} {words[2:]}", name), (f"{owner} > {words[2:]}", name)]
        elif (not ended or summed) and line and line[0] != " " and (match := _CLASS.match(line)):
            owner = match[1]
    if counts is None:
        return cut_off("phpunit")
    if closed > 1:
        return Results("phpunit", {}, f"{closed} runs in one log", "two_runs", runs=closed)
    failed = sum(counts.get(word, 0) for word in _BAD)
    others = sum(counts.get(word, 0) for word in _NOT_PASSED)
    stated: dict[Status, int] = {"passed": counts["Tests"] - failed - others, "failed": failed, "skipped": others}
    if pairs:
        return agreed("phpunit", pairs, stated, failures=frozenset(bad), described=told)
    if len(failures) != failed:
        return Results("phpunit", {}, f"{len(failures)} failures are listed, phpunit counted {failed}", "totals_differ")
    plain = [(_without_data(name), name) for name in failures]
    return agreed("phpunit", [], stated, failures=frozenset(failures), described=plain)


def _without_data(name: str) -> str:
    """The name without the values of its data set, which stand in brackets behind the set's name."""
    before, mark, rest = name.partition(" with data set ")
    return f"{before}{mark}{rest.partition(' (')[0]}" if mark and rest.endswith(")") else name
