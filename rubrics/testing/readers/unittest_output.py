"""unittest's own output (Django's and nose2's runners write the same): a line per test with `-v`, the list of failures,
and the closing `Ran N tests` with its counts.

What failed is taken from the list that stands between the last test and the closing; the lines of `-v` say which tests
ran. Both count only if their numbers are those of the closing, for what a test prints stands among them. A failed
subtest has no line of its own before Python 3.11: its test's line then runs on into the next test's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rubrics.testing.results import BAD, Results, Status, gathered, grouped

_RAN = re.compile(r"Ran (\d{1,9}) tests? in [\d.]{1,20}s")
_END = re.compile(r"(OK|FAILED|NO TESTS RAN)(?: \(([a-z]+(?: [a-z]+)?=\d+(?:, [a-z]+(?: [a-z]+)?=\d+)*)\))?")
_GROUP = re.compile(r" \(([\w.<>-]+)\)")
_DOTTED = re.compile(r"(\w+(?:\.\w+)+)(?: \.\.\. |$)")
_LISTED = re.compile(r"(FAIL|ERROR|UNEXPECTED SUCCESS): (.+)")
_OUTER, _INNER = "=" * 70, "-" * 70
_DOTS = " ... "
_SETUP = ("setUpClass", "setUpModule", "tearDownClass", "tearDownModule")
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
    return any(_RAN.match(text, at) for at in _line_starts(text, "Ran "))


def read(text: str) -> Results:
    """The results of the last run in the text."""
    lines = text.split("\n")
    closings = [at for at, line in enumerate(lines) if line[:4] == "Ran " and _RAN.fullmatch(line.rstrip(" "))]
    ends = [(at, counts) for at in closings if (counts := _counts(lines, at)) is not None]
    if not ends or (closings and closings[-1] != ends[-1][0]):
        return Results("unittest", {}, "unittest did not write its closing lines: the run ended before its end")
    end, counts = ends[-1]
    first: Results | None = None
    for runs, start in enumerate(dict.fromkeys((0, ends[-2][0] + 1 if len(ends) > 1 else 0)), 1):
        results = _run(lines[start:end], counts, runs)
        if results.problem is None:
            return results
        first = first or results
    assert first is not None
    return first


def _line_starts(text: str, word: str) -> Iterator[int]:
    """Places where a line begins with the word."""
    at = 0 if text.startswith(word) else text.find(f"\n{word}") + 1
    while at > 0 or text.startswith(word, at):
        yield at
        at = text.find(f"\n{word}", at) + 1
        if at == 0:
            return


def _counts(lines: Sequence[str], at: int) -> dict[str, int] | None:
    """The counts of a closing that begins at a line, `ran` among them; null when its end is not there."""
    for line in lines[at + 1 : at + 4]:
        if match := _END.fullmatch(line.rstrip(" ")):
            ran = _RAN.match(lines[at])
            assert ran is not None
            pairs = [part.split("=") for part in match[2].split(", ")] if match[2] else []
            bad = {"ended badly": 1} if match[1] == "FAILED" else {}
            return {"ran": int(ran[1]), **bad, **{word: int(number) for word, number in pairs}}
    return None


@dataclass(slots=True)
class _Test:
    """A test that a line of `-v` begins, and what its own lines say."""

    name: str
    told: tuple[str, ...]
    """The first line of its docstring: the whole, and up to its first ` ... `, as harnesses cut it."""
    status: Status | None = None
    skips: int = 0


@dataclass(frozen=True, slots=True)
class _Failures:
    """The list of failures: headings by word, and the tests they name."""

    numbers: dict[str, int] = field(default_factory=dict)
    pairs: list[tuple[str, Status]] = field(default_factory=list)
    parts: set[str] = field(default_factory=set)
    """Tests of which a subtest failed."""
    broken: set[str] = field(default_factory=set)


def _run(lines: list[str], counts: dict[str, int], runs: int) -> Results:
    first = next((at for at, line in enumerate(lines) if line == _OUTER and _heading(lines, at)), len(lines))
    found: Results | None = None
    most = 0
    for at in dict.fromkeys((first, _last_block(lines, first))):
        failures = _failures(lines[at:])
        for dotted in (False, True):
            for nested in (True, False):
                tests = list(_tests(lines[:at], failures, dotted, nested))
                results = _agreed(tests, failures, counts, runs)
                if results.problem is None and (results.complete or dotted or not counts["ran"]):
                    return results
                found = found if found is not None and found.problem is None else results
                most = max(most, len(tests))
        counted = _agreed([], failures, counts, runs)
        found = counted if counted.problem is None and most < counts["ran"] / 2 else found
    assert found is not None
    return found


def _last_block(lines: list[str], first: int) -> int:
    """Where the list of failures begins if all before it that looks alike was printed by tests."""
    at, last = len(lines), first
    for number in range(len(lines) - 1, first, -1):
        if _DOTS in lines[number] and _GROUP.search(lines[number]) is not None and lines[number].endswith("ok"):
            at = number
            break
    else:
        return first
    return next((number for number in range(at, len(lines)) if lines[number] == _OUTER), last)


def _heading(lines: Sequence[str], at: int) -> bool:
    return at + 1 < len(lines) and _LISTED.fullmatch(lines[at + 1]) is not None


def _failures(lines: Sequence[str]) -> _Failures:
    found = _Failures()
    for at, line in enumerate(lines):
        match = _LISTED.fullmatch(line) if line[:1] in ("F", "E", "U") else None
        if match is None or (match[1] != "UNEXPECTED SUCCESS" and (at == 0 or lines[at - 1] != _OUTER)):
            continue
        found.numbers[match[1]] = found.numbers.get(match[1], 0) + 1
        group = _GROUP.search(match[2])
        name = match[2][: group.end()] if group else match[2]
        method = name.partition(" (")[0]
        if group is not None and method in _SETUP:
            found.broken.update({group[1]} if method.startswith("setUp") else ())
        elif group is not None and group[1].startswith("unittest.loader._FailedTest"):
            found.broken.add(method)
        else:
            found.pairs.append((name, "error" if match[1] == "ERROR" else "failed"))
            if group is not None and group.end() < len(match[2]):
                found.parts.add(name)
    return found


def _tests(lines: Sequence[str], failures: _Failures, dotted: bool, nested: bool) -> Iterator[_Test]:
    """The tests that ran, in their order.

    With `nested`, a test that begins while another is open stands in what that one prints. It cannot be told from a
    failed subtest of old Pythons but by the list of failures.
    """
    current: _Test | None = None
    printed, loose = 0, False
    for at, line in enumerate(lines):
        behind = 0
        for name, told, end in _begun(line, lines[at + 1] if at + 1 < len(lines) else "", dotted):
            behind = end
            if name.partition(" (")[0] in _SETUP:
                if current is not None:
                    yield current
                current, printed, loose = _Test(name, ()), 0, False
            elif line.startswith("  ") and current is not None and name == current.name:
                current.status = current.status or "skipped"
            elif nested and current is not None and current.status is None and current.name not in failures.parts:
                printed += 1
            else:
                if current is not None:
                    current.status = "skipped" if loose and _group(current.name) == _group(name) else current.status
                    yield current
                current, printed, loose = _Test(name, told), 0, False
        status = _status(line[behind:])
        if status is None or current is None:
            continue
        if printed:
            printed -= 1
        elif status == "skipped" and current.status == "passed":  # of old Pythons, perhaps the next class's as a whole
            current.skips, loose = current.skips + 1, True
        elif current.status is None or status not in BAD:  # a bare ERROR behind a test is its class's
            current.skips += status == "skipped"
            current.status = status
    if current is not None:
        yield current


def _group(name: str) -> str:
    """The class of an id, of old and new Pythons."""
    method, _, group = name.rstrip(")").partition(" (")
    return group.removesuffix(f".{method}")


def _begun(line: str, following: str, dotted: bool) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Tests that a line begins: id, first line of its docstring, and where the rest of the line starts."""
    if dotted and (match := _DOTTED.match(line)) is not None and (match[0] != match[1] or _DOTS in following):
        yield match[1], _told(following) if match[0] == match[1] else (), match.end()
        return
    at = line.find(" (")
    while at >= 0:
        match = _GROUP.match(line, at)
        end = match.end() if match is not None else at + 2
        goes_on, alone = line.startswith(_DOTS, end), end == len(line) and _DOTS in following
        start = line.rfind(" ", 0, at) + 1
        part = start == 2 and line.startswith("  ")
        if match is not None and (goes_on or alone or part):
            name = line[start:at]
            if start and not part:
                name = _last_word(name)
            told = _told(following) if alone and not part else ()
            yield f"{name}{match[0]}", told, end + (len(_DOTS) if goes_on else 0)
        at = line.find(" (", end - 1)


def _last_word(text: str) -> str:
    """The identifier that the text ends with: what is glued before it was printed without a line end."""
    start = len(text)
    while start and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        start -= 1
    return text[start:]


def _told(line: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((line.rpartition(_DOTS)[0], line.partition(_DOTS)[0])))


def _status(text: str) -> Status | None:
    """The status that a line ends with."""
    text = text.rstrip(" ")
    for word, status in _WORDS.items():
        if text.endswith(word):
            return status
    start = text.rfind("skipped ")
    return "skipped" if start == 0 or (start > 0 and text[start - 1] in " .") else None


def _agreed(tests: list[_Test], failures: _Failures, counts: dict[str, int], runs: int) -> Results:
    """The results, if the closing counts what was read."""
    bad = dict(failures.pairs)
    listed = bool(failures.numbers)  # a log without the list has only the words of its lines
    said = {
        "failures": failures.numbers.get("FAIL", 0) if listed else sum(test.status == "failed" for test in tests),
        "errors": failures.numbers.get("ERROR", 0) if listed else sum(test.status == "error" for test in tests),
        "skipped": sum(test.skips for test in tests),
        "expected failures": sum(test.status == "xfailed" and test.name not in bad for test in tests),
    }  # fmt: skip
    listing = ("failures", "errors") if not tests else tuple(said)
    off = [word for word in listing if said[word] != counts.get(word, 0)]
    if off:
        wanted = counts.get(off[0], 0)
        return _differ(f"{said[off[0]]} {off[0]} are listed, unittest counted {wanted}", runs)
    begun = [test for test in tests if not test.name.startswith(tuple(f"{word} (" for word in _SETUP))]
    extra = len(begun) - counts["ran"]
    uncounted = sum(test.status in ("skipped", "error") for test in begun)  # some versions do not count what never ran
    if begun and not 0 <= extra <= uncounted:
        return _differ(f"{len(begun)} tests are listed, unittest ran {counts['ran']}", runs)
    silent = next((test.name for test in begun if test.status is None and test.name not in bad), None)
    if silent is not None:
        return _differ(f"{silent} began and has no end", runs)
    pairs = [(test.name, test.status) for test in begun if test.status is not None] + failures.pairs
    told = [(words, test.name) for test in begun for words in test.told]
    complete = bool(begun) or not counts["ran"]
    return Results(
        "unittest", gathered(pairs), complete=complete, described=grouped(told), broken=frozenset(failures.broken),
        runs=runs,
    )  # fmt: skip


def _differ(problem: str, runs: int) -> Results:
    return Results("unittest", {}, problem, "totals_differ", runs=runs)
