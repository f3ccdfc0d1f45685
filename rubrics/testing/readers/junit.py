"""JUnit XML: pytest's own report, and what Maven, Gradle and others write.

Reports are read as they come and nothing of them is held but names and statuses: what a test printed may be large.
Declarations of types and entities are refused, so that no small report stands for a large one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from rubrics.testing.results import Results, Status, gathered

MAX_CASES = 1_000_000
"""Tests of one report; a larger one is not read."""
MAX_DEPTH = 100
PIECE = 1024 * 1024
_FOUND = {"failure": "failures", "error": "errors", "skipped": "skipped"}


class _Refused(Exception):
    """What a report may not be."""


@dataclass(slots=True)
class _Suite:
    stated: Mapping[str, str]
    nested: bool = False
    cases: int = 0
    found: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Report:
    """What has been read of a report."""

    pairs: list[tuple[str, Status]] = field(default_factory=list)
    suites: list[_Suite] = field(default_factory=list)
    closed: list[_Suite] = field(default_factory=list)
    depth: int = 0
    case: tuple[str, Status] | None = None

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH or len(self.pairs) > MAX_CASES:
            raise _Refused(f"it is nested deeper than {MAX_DEPTH}, or holds more than {MAX_CASES} tests")
        if tag == "testsuite":
            if self.suites:
                self.suites[-1].nested = True
            self.suites.append(_Suite({key: attributes.get(key, "") for key in ("tests", *_FOUND.values())}))
        elif tag == "testcase" and self.suites:
            self.suites[-1].cases += 1
            self.case = (_name(attributes), "passed")
        elif tag in _FOUND and self.suites and self.case is not None:
            found = self.suites[-1].found
            found[_FOUND[tag]] = found.get(_FOUND[tag], 0) + 1
            self.case = (self.case[0], _worse(self.case[1], tag, attributes))

    def end(self, tag: str) -> None:
        self.depth -= 1
        if tag == "testcase" and self.case is not None:
            self.pairs.append(self.case)
            self.case = None
        elif tag == "testsuite":
            self.closed.append(self.suites.pop())

    def problem(self, form: str) -> str | None:
        return next((said for suite in self.closed if (said := _odd(suite, form)) is not None), None)


def read(documents: Iterable[str | bytes], form: str = "junit") -> Results:
    """Statuses of every document together; one that cannot be read, or whose counts differ, is a problem."""
    pairs: list[tuple[str, Status]] = []
    problem, malformed, seen = None, False, False
    for document in documents:
        seen = True
        report = _Report()
        try:
            _parse(document, report)
        except (expat.ExpatError, _Refused, ValueError) as error:
            problem, malformed = f"a report cannot be read: {error}", True
        pairs += report.pairs
        problem = problem or report.problem(form)
    if not seen:
        return Results(form, {}, "no report was written: the run ended before its end", "not_closed")
    kind = None if problem is None else "malformed" if malformed else "totals_differ"
    return Results(form, gathered(pairs), problem, kind)  # type: ignore[arg-type]


def _parse(document: str | bytes, report: _Report) -> None:
    parser = expat.ParserCreate()
    parser.StartElementHandler = report.begin
    parser.EndElementHandler = report.end
    parser.StartDoctypeDeclHandler = _no_types
    data = document.encode("utf-8", "surrogatepass") if isinstance(document, str) else document
    for start in range(0, len(data), PIECE):
        parser.Parse(data[start : start + PIECE], False)
    parser.Parse(b"", True)


def _no_types(*_: object) -> None:
    raise _Refused("it declares a document type, which no runner does")


def _odd(suite: _Suite, form: str) -> str | None:
    """What is odd about the numbers of a suite. pytest counts subtests among tests, and lists them in their test."""
    if suite.nested:
        return None
    tests = _number(suite.stated["tests"])
    parts = form == "pytest" and all(_number(suite.stated[key]) is not None for key in ("failures", "errors"))
    if tests is not None and tests > suite.cases and not parts:
        return f"a report states {tests} tests and lists {suite.cases}"
    for key in ("failures", "errors"):
        stated, found = _number(suite.stated[key]), suite.found.get(key, 0)
        if stated is not None and (stated > found or (form == "pytest" and stated != found)):
            return f"a report states {stated} {key} and lists {found}"
    return None


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 12 else None


def _name(attributes: Mapping[str, str]) -> str:
    """pytest's node id where the report names the file, else `class.name`."""
    name, group, file = attributes.get("name", ""), attributes.get("classname", ""), attributes.get("file", "")
    if file.endswith(".py"):
        module = file.removesuffix(".py").replace("/", ".").replace("\\", ".")
        inner = group.removeprefix(module).strip(".") if group.startswith(module) else ""
        return "::".join(part for part in (file, *inner.split("."), name) if part)
    return f"{group}.{name}" if group else name


def _worse(status: Status, tag: str, attributes: Mapping[str, str]) -> Status:
    if tag == "failure":
        return "failed"
    if tag == "error":
        return "error" if status != "failed" else status
    if status != "passed":
        return status
    return "xfailed" if attributes.get("type") == "pytest.xfail" else "skipped"
