"""Output of SymPy's own runner (`bin/test --verbose`): a line per test in each file's list, and counts at the end."""

from __future__ import annotations

import re

from rubrics.testing.readers.listing import agreed, cut_off
from rubrics.testing.results import Results, Status

_BEGINS = re.compile(r"=+ test process starts =+$")
_FILE = re.compile(r"(\S*)\[(\d{1,9}|\?)\](?: |$)")
_TEST = re.compile(r"(test_\w+) (.*)$")
_FAILED = re.compile(r"_+ \S*:(\w+) _+$")
_COUNTS = re.compile(r"[ =]*tests finished: (.*)$")
_VERDICT = re.compile(r" +\[(?:OK|FAIL)\]$")
_MARKS: dict[str, Status] = {
    "ok": "passed", "F": "failed", "E": "error", "T": "error", "s": "skipped", "w": "skipped", "f": "xfailed",
    "X": "xpassed",
}  # fmt: skip


def looks_like(text: str) -> bool:
    """Whether SymPy's runner wrote this."""
    return " test process starts =" in text


def read(text: str) -> Results:
    """Statuses by name alone, as the runner shows them; a name of several files passed only if all did."""
    pairs: list[tuple[str, Status]] = []
    failures: set[str] = set()
    begun, listing, runs = None, False, 0
    counts: str | None = None
    for line in text.split("\n"):
        if _BEGINS.match(line):
            pairs, failures, begun, counts, listing, runs = [], set(), None, None, False, runs + 1
        elif counts is not None:
            counts += f" {line}" if "seconds" not in counts else ""
        elif match := _COUNTS.match(line):
            counts = match[1]
        elif line[:1] == "_":
            listing = False
            if match := _FAILED.match(line):
                failures.add(match[1])
        elif _FILE.match(line):
            begun, listing = None, True
        elif listing:
            plain = _VERDICT.sub("", line).rstrip(" ")
            if begun is None and (match := _TEST.match(f"{plain} ")):
                mark = match[2].strip(" ").rpartition(" ")[2]
                begun = None if mark in _MARKS else match[1]
                pairs += [(match[1], _MARKS[mark])] if mark in _MARKS else []
            elif begun is not None and (mark := plain.rpartition(" ")[2]) in _MARKS:
                pairs.append((begun, _MARKS[mark]))
                begun = None
    if counts is None or "seconds" not in counts:
        return cut_off("sympy")
    stated: dict[Status, int] = {
        "passed": _count(counts, "passed"), "failed": _count(counts, "failed") + _count(counts, "exceptions"),
        "skipped": _count(counts, "skipped"),
    }  # fmt: skip
    return agreed("sympy", pairs, stated, failures=frozenset(failures), runs=runs)


def _count(counts: str, word: str) -> int:
    match = re.search(rf"(?:^|, ?)(\d{{1,9}}) {word}(?:,|$| in )", counts)
    return int(match[1]) if match else 0
