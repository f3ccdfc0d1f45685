"""unittest's own output with `-v`: a line per test, and the closing `Ran N tests` with `OK` or `FAILED`."""

from __future__ import annotations

import re

from rubrics.testing.results import Results, Status, gathered

_LINE = re.compile(
    r"^(?P<id>\w+ \([\w.<>]+\))(?:\n[^\n]*?)? \.\.\. (?:.*?)"
    r"(?P<word>ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$",
    re.MULTILINE,
)
_RAN = re.compile(r"^Ran (\d+) tests? in [\d.]+s\s+^(OK|FAILED|NO TESTS RAN)(?: \((.*)\))?\s*$", re.MULTILINE)
_WORDS: dict[str, Status] = {
    "ok": "passed", "FAIL": "failed", "ERROR": "error", "expected failure": "xfailed", "unexpected success": "failed",
}  # fmt: skip


def aliases(name: str) -> tuple[str, ...]:
    """Every name that unittest of one version or another gives the test `name (package.module.Class[.name])`."""
    method, _, group = name.rstrip(")").partition(" (")
    if not group:
        return (name,)
    owner = group.removesuffix(f".{method}")
    return tuple(dict.fromkeys((name, f"{method} ({owner})", f"{method} ({owner}.{method})", f"{owner}.{method}")))


def looks_like(text: str) -> bool:
    """Whether unittest wrote this."""
    return _RAN.search(text) is not None


def read(text: str) -> Results:
    """Statuses of the run; complete when its last closing line agrees with them."""
    closing = list(_RAN.finditer(text))
    if not closing:
        return Results("unittest", {}, "unittest did not write `Ran N tests`: the run ended before its end")
    last = closing[-1]
    pairs = [(match["id"], _WORDS.get(match["word"], "skipped")) for match in _LINE.finditer(text)]
    statuses = gathered([(alias, status) for name, status in pairs for alias in aliases(name)])
    bad = sum(status in ("failed", "error") for _, status in pairs)
    if len(pairs) > int(last[1]):
        return Results("unittest", statuses, f"{len(pairs)} tests are listed, unittest ran {last[1]}")
    if (last[2] == "OK") == bool(bad):
        return Results("unittest", statuses, f"unittest says {last[2]}, but {bad} of the listed tests failed")
    return Results("unittest", statuses)
