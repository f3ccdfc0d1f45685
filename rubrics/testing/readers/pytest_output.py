"""pytest's own output: the short summary of `-rA`, the lines of `-v`, and the closing count that both must agree with.

What a test prints may look like either. So the summary is read behind its last heading alone, a line of `-v` only
where a test can begin, and what was read counts only if its numbers by status are those of the closing line, and if
the closing line counts all tests that were collected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rubrics.testing.readers import pytest_lines
from rubrics.testing.readers.pytest_lines import Line
from rubrics.testing.results import BAD, Results, Status, gathered

_HEADER = re.compile(r"=+ test session starts =+")
_SUMMARY = re.compile(r"=+ short test summary info =+")
_SECTION = re.compile(r"=+ [A-Za-z][^=]{0,80} =+")
_AFTER_TESTS = re.compile(
    r"=+ (?:ERRORS|FAILURES|PASSES|XPASSES|XFAILURES|warnings summary[^=]*|slowest [^=]*|short test summary info) =+"
)
_COLLECTED = re.compile(r"(?:collecting \.\.\. )?collected (\d{1,9}) items?\b(?:.* (\d{1,9}) deselected)?")
_WORKERS = re.compile(r"(?:gw\d+ \[(\d{1,9})\]|\d+ workers? \[(\d{1,9}) items?\])")
_AT = re.compile(r"_+ ERROR (collecting (?P<file>\S+)|at (?:setup|teardown) of \S.*?) _+")
ENDED_EARLY = "!!!!!!"
_DECIDING: tuple[Status, ...] = ("passed", "failed", "error")
CANDIDATES = 2
"""Headers tried as the beginning of the run: the first, and the last. Those between stand in what tests print."""


def looks_like(text: str) -> bool:
    """Whether pytest wrote this."""
    if " test session starts =" in text or " short test summary info =" in text:
        return True
    return any(pytest_lines.closing(line) is not None for line in text[-2000:].split("\n"))


def closing_counts(text: str) -> dict[str, int] | None:
    """The counts of pytest's last line, by word (`passed`, `failed`, `errors`...); null without that line."""
    found = None
    for line in text.split("\n"):
        counts = pytest_lines.closing(line)
        found = counts if counts is not None else found
    return found


def read(text: str) -> Results:
    """The results of the last run in the text."""
    log = _Log.of(text.split("\n"))
    if log.end is None:
        return Results("pytest", {}, "pytest did not write its closing line: the run ended before its end")
    if log.closed_twice:
        problem = "pytest's closing line stands twice after its summary: one of them is not pytest's"
        return Results("pytest", {}, problem, "totals_differ")
    starts = list(dict.fromkeys((log.headers[0], log.headers[-1]))) if log.headers else [0]
    found = [_session(log, start) for start in starts]
    sound = [results for results in found if results.problem is None]
    if len(sound) == CANDIDATES and sound[0].statuses != sound[1].statuses:
        return Results("pytest", {}, "two runs of equal counts in one log say different things", "two_runs", runs=2)
    return (sound or found)[-1]


@dataclass(frozen=True, slots=True)
class _Log:
    """The lines that divide a log."""

    lines: list[str]
    headers: list[int]
    sections: list[int]
    """Headings of every kind, closing lines too."""
    summary: int | None
    """The last heading of a short summary, if it belongs to the last run."""
    end: int | None
    """The closing line of the last run."""
    closed_twice: bool

    @classmethod
    def of(cls, lines: list[str]) -> _Log:
        headers, sections, summaries, closings = [], [], [], []
        for number, line in enumerate(lines):
            first = line[:1]
            if first == "=" and line.endswith("="):
                sections.append(number)
                if _HEADER.fullmatch(line):
                    headers.append(number)
                elif _SUMMARY.fullmatch(line):
                    summaries.append(number)
            if (first in ("=", "n") or first.isdigit()) and pytest_lines.closing(line) is not None:
                closings.append(number)
        begun = headers[-1] if headers else -1
        summary = next((number for number in reversed(summaries) if number > begun), None)
        behind = [number for number in closings if number > (begun if summary is None else summary)]
        end = None if not behind else behind[-1] if summary is None else behind[0]
        return cls(lines, headers, sections, summary, end, summary is not None and len(behind) > 1)


def _session(log: _Log, start: int) -> Results:
    """The results of the run that begins at a header and ends with the log's last closing line."""
    assert log.end is not None
    counts = pytest_lines.totals(pytest_lines.closing(log.lines[log.end]) or {})
    runs = 1 if not log.headers or start == log.headers[0] else 2
    behind = [number for number in log.sections if number > start]
    last = log.end if log.summary is None else log.summary
    first = min(behind[0] if behind else last, last)
    after = next((number for number in behind if _AFTER_TESTS.fullmatch(log.lines[number])), last)
    width = len(log.lines[start]) if log.headers else 0
    listed = list(pytest_lines.summary(_joined(_until_section(log.lines, log.summary, log.end), width)))
    problem = _too_few(log.lines[start:last], counts, log.lines[last : log.end])
    found = Results("pytest", {}, problem, runs=runs) if problem else None
    for until in dict.fromkeys((first, min(after, last))):
        region = list(_joined(log.lines[start + 1 : until], width))
        workers = any(_WORKERS.match(line) for line in region[:400])
        for way in (_of_workers,) if workers else (_in_turn, _last_word):
            results = _agreed(counts, list(way(region)), listed, _at_errors(log.lines[first:last]), runs)
            if results.problem is None and problem is None:
                return results
            found = found or results
    assert found is not None
    return found


def _until_section(lines: list[str], start: int | None, end: int) -> Iterator[str]:
    """The lines behind a heading, up to the next heading or the end."""
    for line in lines[start + 1 : end] if start is not None else ():
        if line[:1] == "=" and _SECTION.fullmatch(line):
            return
        yield line


def _joined(lines: Iterable[str], width: int) -> Iterator[str]:
    """The lines, those that a terminal of that width cut put together again."""
    held = ""
    open_ended = False
    for line in lines:
        if open_ended and line and pytest_lines.begun(line) is None and line.split(" ", 1)[0] not in pytest_lines.WORDS:
            held += line
        else:
            if held:
                yield held
            held = line
            if not held:
                yield ""
        full = len(line) == width > 40 and not line.endswith("...")
        named = held.split(" ", 1)[0] in pytest_lines.WORDS or pytest_lines.begun(held) is not None
        open_ended = full and named and pytest_lines.verbose(held) is None
    if held:
        yield held


def _too_few(top: Sequence[str], counts: dict[Status, int], bottom: Sequence[str]) -> str | None:
    """What is wrong when the closing line counts fewer tests than were collected, though nothing ended the run."""
    collected = None
    for line in top[:400]:
        if (match := _COLLECTED.match(line)) is not None:
            collected = int(match[1]) - int(match[2] or 0)
            break
        if (worker := _WORKERS.match(line)) is not None:
            collected = int(worker[1] or worker[2])
            break
    counted = sum(counts.values())
    if collected is None or counted >= collected or any(line.startswith(ENDED_EARLY) for line in (*bottom, *top[-50:])):
        return None
    return f"pytest collected {collected} tests, its closing line counts {counted}"


def _in_turn(lines: Iterable[str], last_word: bool = False) -> Iterator[Line]:
    """Lines of `-v`, one test after another: what stands between a test's id and its status is its own print."""
    open_test: str | None = None
    held: Line | None = None
    for line in lines:
        found = pytest_lines.verbose(line)
        if found is not None and not found.part and open_test not in (None, found.name):
            continue
        name = None if found is not None else pytest_lines.begun(line)
        if found is None and name is None:
            status = pytest_lines.ends_with_status(line) if open_test or (held and last_word) else None
            if status is not None and open_test is not None:
                held, open_test = Line(status, open_test), None
            elif status is not None and held is not None:
                held = Line(status, held.name)
            continue
        if held is not None:
            yield held
            held = None
        if found is not None and found.part:
            yield found
        elif found is not None:
            held, open_test = found, None
        elif pytest_lines.is_rerun(line):
            open_test = None
        elif open_test is None and (status := pytest_lines.ends_with_status(line)) is not None and name is not None:
            held = Line(status, name)
        else:
            open_test = open_test or name
    if held is not None:
        yield held


def _last_word(lines: Iterable[str]) -> Iterator[Line]:
    """As `_in_turn`; where a test printed a status of its own, the one behind it is pytest's."""
    return _in_turn(lines, last_word=True)


def _of_workers(lines: Iterable[str]) -> Iterator[Line]:
    """The lines that xdist writes when a worker has done a test; tests begin and end in any order."""
    return (found for line in lines if line[:3] == "[gw" and (found := pytest_lines.verbose(line)) is not None)


def _at_errors(lines: Iterable[str]) -> tuple[int, frozenset[str]]:
    """Headings of errors below `ERRORS`: how many, and files that could not be collected."""
    found = [match for line in lines if line[:1] == "_" and (match := _AT.fullmatch(line)) is not None]
    return len(found), frozenset(match["file"] for match in found if match["file"])


def _agreed(
    counts: dict[Status, int], verbose: list[Line], listed: list[Line], errors: tuple[int, frozenset[str]], runs: int
) -> Results:
    """Results of both listings, if the numbers of one of them are those of the closing line for every status.

    A summary that names all passes and failures needs no lines of `-v`, which then may be a test's prints; of them it
    takes the names of skipped tests alone.
    """
    said = _numbers(listed)
    checked: tuple[Status, ...] = ("passed", "failed", "error", "xfailed", "xpassed", "skipped")
    if counts.get("passed") and all(said.get(status, 0) == counts.get(status, 0) for status in _DECIDING):
        checked = checked[:-1]
        names = {line.name for line in listed}
        verbose = [line for line in verbose if line.status == "skipped" and line.name not in names]
    seen = _numbers(verbose)
    unnamed: set[Status] = set()
    for status in checked:
        wanted, found = counts.get(status, 0), (seen.get(status, 0), said.get(status, 0))
        if wanted in found and max(found) <= wanted:
            if status in BAD and found[0] == found[1] and _named(verbose, status) != _named(listed, status):
                problem = f"lines of -v and the summary name other tests as {status}"
                return Results("pytest", {}, problem, "totals_differ", runs=runs)
            continue
        if not any(found) and (status != "error" or errors[0] in (0, wanted)):
            unnamed.add(status)
            continue
        problem = f"{max(found)} tests are listed as {status}, pytest counted {wanted}"
        return Results("pytest", {}, problem, "totals_differ", runs=runs)
    if "passed" not in unnamed and counts.get("passed") and unnamed & BAD - ({"error"} if errors[0] else set()):
        problem = "passes are listed and failures are not: which passes failed afterwards is not known"
        return Results("pytest", {}, problem, "totals_differ", runs=runs)
    pairs = [(line.name, line.status) for line in (*verbose, *listed) if line.name is not None]
    statuses = gathered(pairs)
    broken = {name for name, status in statuses.items() if "::" not in name and status == "error"} | errors[1]
    called = frozenset(line.name for line in listed if line.called and line.name is not None)
    return Results(
        "pytest", statuses, complete="passed" not in unnamed, broken=frozenset(broken), called=called, runs=runs
    )


def _numbers(lines: Iterable[Line]) -> dict[Status, int]:
    found: dict[Status, int] = {}
    for line in lines:
        found[line.status] = found.get(line.status, 0) + line.count
    return found


def _named(lines: Iterable[Line], status: Status) -> set[str | None]:
    return {line.name for line in lines if line.status == status and not line.part}
