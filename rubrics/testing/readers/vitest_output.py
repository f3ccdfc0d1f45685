"""Output of vitest: with `--reporter=verbose` every test, else failures alone."""

from __future__ import annotations

import re

from rubrics.testing.readers.listing import agreed, called, cut_off
from rubrics.testing.results import Results, Status

_TESTS = re.compile(r" {6}Tests {2}((?:\d{1,9} [a-z]+(?: \| )?)+) ?\(\d{1,9}\)$")
_TIME = re.compile(r" \d[\d.]*m?s$")
_MARKS: dict[str, Status] = {"✓": "passed", "√": "passed", "×": "failed", "❯": "failed", "↓": "skipped", "□": "skipped"}


def looks_like(text: str) -> bool:
    """Whether vitest wrote this."""
    return "\n Test Files  " in text


def read(text: str) -> Results:
    """Statuses by `file > group > title`."""
    pairs: list[tuple[str, Status]] = []
    told: list[tuple[str, str]] = []
    failures: set[str] = set()
    counts: dict[str, int] | None = None
    for line in text.split("\n"):
        words = line.strip(" ")
        if line.startswith(" FAIL ") and " > " in line:
            failures.add(line[6:].strip(" "))
        elif match := _TESTS.match(line):
            if counts is not None:
                return Results("vitest", {}, "two runs in one log", "two_runs", runs=2)
            counts = {word: int(number) for number, word in (part.split(" ") for part in match[1].strip().split(" | "))}
        elif words[:1] in _MARKS and " > " in words and words[1:2] == " ":
            name = _TIME.sub("", words[2:])
            pairs.append((name, _MARKS[words[0]]))
            file, *groups, title = name.split(" > ")
            told += [(what, name) for what in (*called(groups, title), *called([file, *groups], title))]
    if counts is None:
        return cut_off("vitest")
    told += [(what, name) for name in failures for what in called(name.split(" > ")[1:-1], name.split(" > ")[-1])]
    stated: dict[Status, int] = {"passed": counts.get("passed", 0), "failed": counts.get("failed", 0)}
    return agreed("vitest", pairs, stated, failures=frozenset(failures), described=told, partial=True)
