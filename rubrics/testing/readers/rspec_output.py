"""Output of RSpec in its documentation format; other formats name failures alone."""

from __future__ import annotations

import re

from rubrics.testing.readers.listing import Groups, agreed, cut_off, indent_of
from rubrics.testing.results import Results, Status

_COUNTS = re.compile(
    r"(\d{1,9}) examples?, (\d{1,9}) failures?(?:, (\d{1,9}) pending)?"
    r"(?:, \d{1,9} errors? occurred outside of examples)?$"
)
_RERUN = re.compile(r"rspec (\S+) # (.+)$")
_SECTION = ("Pending:", "Failures:", "Finished in ")


def looks_like(text: str) -> bool:
    """Whether RSpec wrote this."""
    return "\nFinished in " in text and any(_COUNTS.match(line) for line in text[-20_000:].split("\n"))


def read(text: str) -> Results:
    """Statuses by full description. A line in a group is an example if no line stands below it, further in."""
    lines = text.split("\n")
    counts = [match for line in lines if (match := _COUNTS.match(line))]
    if not counts:
        return cut_off("rspec")
    if len(counts) > 1:
        return Results("rspec", {}, f"{len(counts)} runs in one log", "two_runs", runs=len(counts))
    failures = frozenset(match[2] for line in lines if line[:6] == "rspec " and (match := _RERUN.match(line)))
    pairs: list[tuple[str, Status]] = []
    told: list[tuple[str, str]] = []
    groups = Groups()
    end = next((at for at, line in enumerate(lines) if line.startswith(_SECTION)), len(lines))
    for at, line in enumerate(lines[:end]):
        words, indent = line.strip(" "), indent_of(line)
        following = lines[at + 1] if at + 1 < end else ""
        if not words:
            continue
        if following.strip(" ") and indent_of(following) > indent:
            groups.enter(indent, words)
            continue
        around = groups.of(indent)
        if not around:
            continue
        title, status = _titled(words)
        name = " ".join((*around, title))
        pairs.append((name, status))
        told += [(title, name), (" > ".join((*around, title)), name), ("::".join((*around, title)), name)]
    failed, pending = int(counts[0][2]), int(counts[0][3] or 0)
    stated: dict[Status, int] = {"passed": int(counts[0][1]) - failed - pending, "failed": failed, "skipped": pending}
    return agreed("rspec", pairs, stated, failures=failures, described=told)


def _titled(words: str) -> tuple[str, Status]:
    """The title and the status of an example's line."""
    if words.endswith(")"):
        title, mark, number = words.rpartition(" (FAILED - ")
        if mark and number[:-1].isdecimal():
            return title, "failed"
        title, mark, _ = words.partition(" (PENDING: ")
        if mark:
            return title, "skipped"
    return words, "passed"
