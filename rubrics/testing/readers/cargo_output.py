"""Output of `cargo test`: `test NAME ... ok`, and the result line of every test program."""

from __future__ import annotations

import re

from rubrics.testing.readers.listing import agreed, cut_off
from rubrics.testing.results import Results, Status, gathered, grouped

_BEGINS = re.compile(r"running (\d{1,9}) tests?$")
_TEST = re.compile(r"test (\S.*?) \.\.\. ")
_RESULT = re.compile(
    r"test result: (ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored; (\d{1,9}) measured;"
)
_UNBUILT = "error: could not compile `"
_WORDS: dict[str, Status] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}


def looks_like(text: str) -> bool:
    """Whether cargo, or a test program of its, wrote this."""
    return "\ntest result: " in text or _UNBUILT in text or text.startswith("running ")


def read(text: str) -> Results:
    """Statuses of all test programs together; each must list as many tests as its result line counts."""
    found: list[Results] = []
    begun: int | None = None
    pairs: list[tuple[str, Status]] = []
    failures: set[str] = set()
    open_test: str | None = None
    listing = False
    for line in text.split("\n"):
        if begun is None:
            if match := _BEGINS.match(line):
                begun, pairs, failures, open_test, listing = int(match[1]), [], set(), None, False
        elif result := _RESULT.match(line):
            counts: dict[Status, int] = {
                "passed": int(result[2]) + int(result[5]), "failed": int(result[3]), "skipped": int(result[4])
            }  # fmt: skip
            if sum(counts.values()) != begun:
                problem = f"a program begins {begun} tests, and counts {sum(counts.values())}"
                return Results("cargo", {}, problem, "totals_differ")
            found.append(agreed("cargo", pairs, counts, failures=frozenset(failures)))
            begun = None
        elif line == "failures:":
            listing, failures = True, set()
        elif listing and line.startswith("    "):
            failures.add(line[4:])
        elif listing and line:
            listing = False
        elif match := _TEST.match(line):
            word = line[match.end() :].partition(",")[0]
            open_test = match[1] if word not in _WORDS else None
            pairs += [(match[1], _WORDS[word])] if word in _WORDS else []
        elif open_test is not None and line.endswith(("ok", "FAILED")):
            pairs.append((open_test, "passed" if line.endswith("ok") else "failed"))
            open_test = None
    if begun is not None:
        return cut_off("cargo")
    if not found:
        unbuilt = _UNBUILT in text
        return Results("cargo", broken=frozenset({""})) if unbuilt else cut_off("cargo")
    wrong = next((results for results in found if results.problem is not None), None)
    if wrong is not None:
        return wrong
    statuses = gathered((name, status) for results in found for name, status in results.statuses.items())
    panics = " - should panic"
    told = grouped((name.removesuffix(panics), name) for name in statuses if name.endswith(panics))
    return Results("cargo", statuses, complete=all(results.complete for results in found), described=told)
