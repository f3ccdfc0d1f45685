"""Output of GoogleTest programs; several in one log, and behind the numbers that ctest puts before lines."""

from __future__ import annotations

import re

from rubrics.testing.readers.listing import agreed, cut_off
from rubrics.testing.results import Results, Status, gathered

_END = re.compile(r"\[ {7}OK \] (\S+)|\[  (FAILED|SKIPPED) +\] (\S+?)(?:,|$| \()")
_RUN = re.compile(r"(?:\d+: )?\[ RUN      \] (\S+)$")
_BEGINS = re.compile(r"(?:\d+: )?\[==========\] Running (\d{1,9}) tests? from \d+ test (?:suites?|cases?)\.$")
_ENDS = re.compile(r"(?:\d+: )?\[==========\] (\d{1,9}) tests? from \d+ test (?:suites?|cases?) ran\.")
_COUNT = re.compile(r"(?:\d+: )?\[  (PASSED|FAILED|SKIPPED) +\] (\d{1,9}) tests?[,.]")
_LISTED = re.compile(r"(?:\d+: )?\[  FAILED  \] (\S+?)(?:,|$)")


def looks_like(text: str) -> bool:
    """Whether a GoogleTest program wrote this."""
    return "[==========] Running " in text


def read(text: str) -> Results:
    """Statuses of all programs together. A test counts only if it began; the list at the end says what failed."""
    found: list[Results] = []
    begun: list[str] = []
    ended: list[tuple[str, Status]] = []
    counts: dict[Status, int] = {}
    failures: set[str] = set()
    total, closing = None, False
    for line in [*text.split("\n"), "[==========] Running 0 tests from 0 test suites."]:
        if "[" not in line:
            continue
        if match := _BEGINS.match(line):
            if total is not None and (not closing or sum(counts.values()) != total):
                return cut_off("gtest")
            if total:
                names = set(begun)
                pairs = [(name, status) for name, status in ended if name in names]
                found.append(agreed("gtest", pairs, counts, failures=frozenset(failures)))
            total, closing, begun, ended, counts, failures = int(match[1]), False, [], [], {}, set()
        elif match := _ENDS.match(line):
            closing = int(match[1]) == total
        elif closing:
            if match := _COUNT.match(line):
                status: Status = {"PASSED": "passed", "FAILED": "failed"}.get(match[1], "skipped")  # type: ignore[assignment]
                counts.setdefault(status, int(match[2]))
            elif match := _LISTED.match(line):
                failures.add(match[1])
        elif match := _RUN.match(line):
            begun.append(match[1])
        elif match := _END.search(line):
            ended.append((match[1] or match[3], {"FAILED": "failed", "SKIPPED": "skipped"}.get(match[2], "passed")))  # type: ignore[arg-type]
    if not found:
        return cut_off("gtest")
    wrong = next((results for results in found if results.problem is not None), None)
    if wrong is not None:
        return wrong
    return Results("gtest", gathered((name, status) for results in found for name, status in results.statuses.items()))
