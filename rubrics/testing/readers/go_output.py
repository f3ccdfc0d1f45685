"""Output of `go test`, with `-v` or `-json`.

A test's end counts once for each time it began, and only if the package it stands in ended so: in a package that is
`ok` no test failed, in one that is `FAIL` one did. Prints without a line end may stand before an end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from rubrics import jsonio
from rubrics.testing.results import BAD, Results, Status, gathered

_END = re.compile(r"--- (PASS|FAIL|SKIP): (\S+) \(\d[\d.]{0,20}s\)$")
_RUN = re.compile(r"\x16?=== RUN   (\S+)$")
_PACKAGE = re.compile(r"(ok  |FAIL|\?   )\t(\S+)(?:\t.*| \[(?:build|setup) failed\])$")
_WORDS: dict[str, Status] = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}


def looks_like(text: str) -> bool:
    """Whether `go test` wrote this."""
    if text.startswith(("ok  \t", "FAIL\t")) or "\nok  \t" in text or "\nFAIL\t" in text or "=== RUN   " in text:
        return True
    return '{"' in text and '"Action":"' in text and '"Package":"' in text


@dataclass(slots=True)
class _Package:
    """What stands up to the line that closes a package.

    Tests at the top begin one after another. One that begins while another has neither ended nor paused, and an end
    of a test that is over since another began, were printed by the test at hand.
    """

    begun: dict[str, list[Status]] = field(default_factory=dict)
    current: str | None = None
    running: bool = False
    open_tests: set[str] = field(default_factory=set)
    printed: set[str] = field(default_factory=set)
    strange: bool = False
    """Whether a test ended that never began: the run is not verbose, and what looks so was printed."""

    def begin(self, name: str) -> None:
        if "/" not in name:
            if self.running and name != self.current:
                self.printed.add(name)
                return
            self.current, self.running = name, True
        self.begun.setdefault(name, [])
        self.open_tests.add(name)

    def pause(self, name: str) -> None:
        self.running = self.running and name != self.current

    def end(self, name: str, status: Status) -> None:
        if name in self.printed and name != self.current:
            self.printed.discard(name)
        elif name in self.begun and (name in self.open_tests or name == self.current):
            self.begun[name].append(status)
            self.open_tests.discard(name)
            self.running = self.running and name != self.current
        elif name not in self.begun:
            self.strange = True


def read(text: str) -> Results:
    """Statuses by test name, of all packages together."""
    events = list(_events(text)) if '"Action"' in text else []
    loose = (line for line in text.split("\n") if not (events and line.startswith("{")))
    pairs: list[tuple[str, Status]] = []
    closed: dict[str, str] = {}
    current, verbose = _Package(), True
    for line in chain(_printed(events), loose):
        if (run := _RUN.match(line)) is not None:
            current.begin(run[1])
        elif line.startswith("=== PAUSE "):
            current.pause(line[10:].strip())
        elif "--- " in line and (end := _END.search(line, line.rindex("--- "))) is not None:
            current.end(end[2], _WORDS[end[1]])
        elif (package := _PACKAGE.match(line)) is not None:
            if package[2] in closed:
                return Results("go", {}, f"package {package[2]} is closed twice", "two_runs")
            closed[package[2]] = line
            unheard = package[1] == "ok  " and not current.begun and not line.endswith("[no tests to run]")
            verbose = verbose and not current.strange and not unheard
            found = _of_package(current, package[1].strip(), line)
            if isinstance(found, str):
                return Results("go", {}, f"package {package[2]}: {found}", "totals_differ")
            pairs += found
            current = _Package()
    if not closed or current.begun:
        return Results("go", {}, "go did not close a package: the run ended before its end")
    unbuilt = any(line.endswith("[build failed]") for line in closed.values())
    return Results(
        "go", gathered(pairs) if verbose else {}, complete=verbose, broken=frozenset({""} if unbuilt else ())
    )


def _of_package(package: _Package, word: str, line: str) -> list[tuple[str, Status]] | str:
    """The statuses of a package's tests, or what is wrong with them; none without `-v`, which names failures alone."""
    if word == "?" or line.endswith(" failed]") or not package.begun:
        return []
    pairs: list[tuple[str, Status]] = []
    for name, ends in package.begun.items():
        said = [status for status in ends if status not in BAD or word != "ok"]
        if not said and word == "ok":
            return f"{name} began and has no end"
        pairs += [(name, status) for status in said] or [(name, "failed")]
    return pairs if word == "ok" or any(status in BAD for _, status in pairs) else "it failed, and no test of it did"


def _events(text: str) -> Iterator[dict[str, str]]:
    for line in text.split("\n"):
        if line.startswith('{"') and '"Action"' in line:
            try:
                value = jsonio.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict) and isinstance(value.get("Action"), str):
                yield value


def _printed(events: Iterable[dict[str, str]]) -> Iterator[str]:
    """The lines that the events of each package are made of, package by package."""
    texts: dict[str, list[str]] = {}
    silent: dict[str, list[str]] = {}
    for event in events:
        package, test, action = str(event.get("Package")), event.get("Test"), event["Action"]
        if action in ("output", "build-output") and isinstance(event.get("Output"), str):
            texts.setdefault(package, []).append(event["Output"])
        elif action == "run":
            silent.setdefault(package, []).append(f"=== RUN   {test}")
        elif action in ("pass", "fail", "skip"):
            closing = f"{'FAIL' if action == 'fail' else 'ok  '}\t{package}\t0s"
            silent.setdefault(package, []).append(f"--- {action.upper()}: {test} (0s)" if test else closing)
    for package in dict.fromkeys((*texts, *silent)):
        yield from "".join(texts[package]).split("\n") if package in texts else silent[package]
