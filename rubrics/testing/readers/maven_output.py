"""Output of Maven's Surefire and Failsafe: a line per test class with its counts, and every failure by name.

A class stands for its tests: rows that list classes are answered, methods only where they failed.
"""

from __future__ import annotations

import re

from rubrics.testing.readers.listing import cut_off
from rubrics.testing.results import Results, Status, gathered, grouped

_LEVEL = re.compile(r"\[(?:INFO|ERROR|WARNING)\] +")
_COUNTS = re.compile(r"Tests run: (\d{1,9}), Failures: (\d{1,9}), Errors: (\d{1,9}), Skipped: (\d{1,9})")
_CLASS = re.compile(r"(?:, Time elapsed: [\d.,]{1,20} (?:s|sec)(?: <<< (?:FAILURE|ERROR)!)?)? --? in ([\w.$]+)$")
_ELAPSED = re.compile(r", Time elapsed: [\d.,]{1,20} (?:s|sec)(?: <<< (?:FAILURE|ERROR)!)?$")
_METHOD = re.compile(r"(\S+?)(?:\(([\w.$]+)\))? +(?:--? )?Time elapsed: [\d.,]{1,20} (?:s|sec) +<<< (FAILURE|ERROR)!$")
_RUNNING = re.compile(r"Running ([\w.$]+)$")


def looks_like(text: str) -> bool:
    """Whether Surefire wrote this."""
    return "Tests run: " in text and ("Failures: " in text and "Skipped: " in text)


def read(text: str) -> Results:
    """Statuses by class, and by `Class.method` of what failed; the totals must be the sums of the classes'."""
    classes: list[tuple[str, tuple[int, ...]]] = []
    methods: list[tuple[str, Status]] = []
    totals: list[tuple[int, ...]] = []
    running: str | None = None
    ended = False
    for raw in text.split("\n"):
        level = _LEVEL.match(raw)
        line = raw[level.end() :] if level else raw
        if match := _RUNNING.match(line):
            running, ended = match[1], False
        elif line.startswith("Results"):
            ended = True
        elif match := _COUNTS.match(line):
            counts, rest = tuple(int(part) for part in match.groups()), line[match.end() :]
            if named := _CLASS.match(rest):
                classes.append((named[1], counts))
            elif _ELAPSED.match(rest) and running is not None:
                classes.append((running, counts))
            elif ended and not rest.strip():
                totals.append(counts)
        elif "<<<" in line and (match := _METHOD.match(line)):
            owner = match[2] or (running or "")
            name = match[1] if match[2] is None and "." in match[1] else f"{owner}.{match[1]}"
            methods.append((name, "failed" if match[3] == "FAILURE" else "error"))
    if not totals:
        return cut_off("maven")
    sums = tuple(sum(counts[at] for _, counts in classes) for at in range(4))
    if sums != tuple(sum(counts[at] for counts in totals) for at in range(4)):
        return Results("maven", {}, f"the classes count {sums[0]} tests, the totals other ones", "totals_differ")
    pairs: list[tuple[str, Status]] = [(name, _status(counts)) for name, counts in classes]
    owners = {name for name, _ in classes}
    own = [(name, status) for name, status in methods if name not in owners]
    if len([name for name, _ in methods]) > sums[1] + sums[2]:
        return Results("maven", {}, "more failures are listed than counted", "totals_differ")
    told = [(name.rpartition(".")[2], name) for name, _ in pairs]
    told += [(".".join(name.split(".")[-2:]), name) for name, _ in own]
    return Results("maven", gathered([*pairs, *own]), complete=False, described=grouped(told))


def _status(counts: tuple[int, ...]) -> Status:
    ran, failed, errors, skipped = counts
    if failed or errors:
        return "failed" if failed else "error"
    return "skipped" if skipped == ran else "passed"
