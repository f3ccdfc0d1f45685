"""Output of `go test`, with `-v` or `-json`."""

from __future__ import annotations

import re

from rubrics import jsonio
from rubrics.testing.results import Results, Status, gathered

_END = re.compile(r"^\s*--- (PASS|FAIL|SKIP): (\S+) \([\d.]+s\)$")
_RUN = re.compile(r"^=== RUN\s+(\S+)$")
_PACKAGE = re.compile(r"^(ok|FAIL|\?)\s+(\S+)\s")
_WORDS: dict[str, Status] = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}


def looks_like(text: str) -> bool:
    """Whether `go test` wrote this."""
    return _events(text) != [] or any(_RUN.match(line) or _END.match(line) for line in text.splitlines())


def read(text: str) -> Results:
    """Statuses by test name; a test counts only if the run says both that it began and how it ended."""
    events = _events(text)
    if events:
        words: dict[str, Status] = {"pass": "passed", "fail": "failed", "skip": "skipped"}
        began = {event["Test"] for event in events if event.get("Action") == "run" and "Test" in event}
        pairs = [(event["Test"], words[event["Action"]]) for event in events if _ends(event) and event["Test"] in began]
        closed = any("Test" not in event and event.get("Action") in ("pass", "fail") for event in events)
    else:
        lines = text.splitlines()
        began = {match[1] for line in lines if (match := _RUN.match(line))}
        ends = [match for line in lines if (match := _END.match(line))]
        pairs = [(match[2], _WORDS[match[1]]) for match in ends if match[2] in began]
        closed = any(_PACKAGE.match(line) for line in lines)
    statuses = gathered(pairs)
    for name in sorted(began - statuses.keys()):
        statuses[name] = "failed"
    return Results("go", statuses, None if closed else "go did not close a package: the run ended before its end")


def _ends(event: dict[str, str]) -> bool:
    return "Test" in event and event.get("Action") in ("pass", "fail", "skip")


def _events(text: str) -> list[dict[str, str]]:
    found = []
    for line in text.splitlines():
        if line.startswith('{"') and '"Action"' in line:
            try:
                value = jsonio.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                found.append(value)
    return found
