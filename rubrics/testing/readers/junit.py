"""JUnit XML: pytest's own report, and what Maven, Gradle and others write."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

from rubrics.testing.results import Results, Status, gathered


def read(documents: Iterable[str | bytes], form: str = "junit") -> Results:
    """Statuses of every document together; one that cannot be read, or whose counts differ, is a problem."""
    pairs: list[tuple[str, Status]] = []
    problem = None
    seen = False
    for document in documents:
        seen = True
        try:
            root = ElementTree.fromstring(document)
        except ElementTree.ParseError as error:
            problem = f"a report cannot be read: {error}"
            continue
        for suite in root.iter("testsuite"):
            cases = suite.findall("testcase")
            stated = suite.get("tests")
            pairs += [(_name(case), _status(case)) for case in cases]
            nested = suite.find("testsuite") is not None
            if stated is not None and stated.isdecimal() and int(stated) > len(cases) and not nested:
                problem = f"a report states {stated} tests and lists {len(cases)}"
    return Results(form, gathered(pairs), problem if seen else "no report was written: the run ended before its end")


def _name(case: ElementTree.Element) -> str:
    """pytest's node id where the report names the file, else `class.name`."""
    name, group, file = case.get("name") or "", case.get("classname") or "", case.get("file")
    if file and file.endswith(".py"):
        module = file.removesuffix(".py").replace("/", ".").replace("\\", ".")
        inner = group.removeprefix(module).strip(".") if group.startswith(module) else ""
        return "::".join(part for part in (file, *inner.split("."), name) if part)
    return f"{group}.{name}" if group else name


def _status(case: ElementTree.Element) -> Status:
    if case.find("failure") is not None:
        return "failed"
    if case.find("error") is not None:
        return "error"
    skipped = case.find("skipped")
    if skipped is None:
        return "passed"
    return "xfailed" if skipped.get("type") == "pytest.xfail" else "skipped"
