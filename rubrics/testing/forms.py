"""Which form a test command has, and how it is made to report where the code under test does not look."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rubrics import jsonio
from rubrics.environments.session import CommandResult, Session
from rubrics.errors import InfraError
from rubrics.testing import task_report
from rubrics.testing.readers import go_output, junit, pytest_output, tap, unittest_output
from rubrics.testing.results import STATUSES, Results, Status, gathered

Form = Literal["pytest", "unittest", "other"]

_PYTEST = re.compile(r"(?:^|[\s;&|(])(?:\S*/)?(?:py\.test|pytest)(?=\s|$|;)|-m\s+pytest\b")
_UNITTEST = re.compile(r"(?P<python>(?:\S*/)?python[\d.]*(?:\s+-[a-zA-Z]+)*)\s+-m\s+unittest\b")
_QUIET = re.compile(r"\s-qq|\s-q\s+-q\b|--no-summary")
READERS: tuple[Any, ...] = (pytest_output, go_output, unittest_output, tap)
"""Readers of printed output, tried in this order."""
_PRELUDE = 'command -v python >/dev/null 2>&1 || python() { python3 "$@"; }\n'
"""Debian has no `python`; most commands say it."""


def form_of(command: str) -> Form:
    """The form by the command's words."""
    if _PYTEST.search(command):
        return "pytest"
    return "unittest" if _UNITTEST.search(command) else "other"


@dataclass(frozen=True, slots=True)
class Reporting:
    """A command that reports to a place named by chance, and how its results are read.

    pytest writes its own JUnit report at its very end, unittest is run by `unittest_report.py`; for both a run that
    ended early leaves no report, and printed lines count for nothing. Other forms are read from the report that the
    task names, else from their output.
    """

    command: str
    form: Form
    folder: str
    nonce: str
    report: str | None = None
    """Where another form's command writes JUnit XML of its own."""

    @classmethod
    def of(cls, command: str, report: str | None = None) -> Reporting:
        form, folder, nonce = form_of(command), f"/tmp/{secrets.token_hex(8)}", secrets.token_hex(16)
        if form == "unittest":
            runner = rf"\g<python> {folder}/run.py {folder}/report {nonce}"
            command = _UNITTEST.sub(runner, command)
        if form == "pytest":
            options = f"--junitxml={folder}/report -o junit_family=xunit1 -p no:cacheprovider"
            command = f"export PYTEST_ADDOPTS='{options}'\n{command}"
        return cls(f"{_PRELUDE}{command}", form, folder, nonce, report)

    def prepare(self, session: Session) -> None:
        if self.form == "unittest":
            source = Path(__file__).with_name("unittest_report.py").read_bytes()
            session.write(f"{self.folder}/run.py", source)
        elif self.form == "pytest":
            session.write(f"{self.folder}/.keep", b"")
        elif self.report is not None:
            task_report.clear(session, self.report)

    def results(self, session: Session, done: CommandResult) -> Results:
        """What the run said. Raises `InfraError` when the environment broke."""
        if done.limit is not None:
            return Results(self.form, {}, f"ended by its {done.limit} limit")
        if self.form == "other":
            if self.report is not None:
                return task_report.results_of(session, self.report, done)
            return read_output(done.output, done.exit_code)
        try:
            report = session.read(f"{self.folder}/report")
        except FileNotFoundError:
            return Results(
                self.form, {}, f"no report: the run ended before {self.form} did (exit code {done.exit_code})"
            )
        except OSError as error:
            return Results(self.form, {}, f"the report cannot be read: {error}")
        if self.form == "unittest":
            return unittest_results(report, self.nonce)
        return _checked(junit.read([report], "pytest"), done)


def _checked(results: Results, done: CommandResult) -> Results:
    """pytest's report, checked against its closing line and its exit code."""
    if results.problem is not None:
        return results
    if done.exit_code not in (0, 1):
        return Results("pytest", results.statuses, f"pytest ended with exit code {done.exit_code}")
    counts = pytest_output.closing_counts(done.output)
    if counts is not None and not done.truncated:
        passed = sum(status == "passed" for status in results.statuses.values())
        stated = counts.get("passed", 0) + counts.get("xpassed", 0)
        if passed > stated:
            problem = f"the report lists {passed} tests as passed, pytest counted {stated}"
            return Results("pytest", results.statuses, problem)
    return results


def unittest_results(report: bytes, nonce: str) -> Results:
    """Results of the lines that `unittest_report.py` wrote, under both names of each test."""
    pairs: list[tuple[str, Status]] = []
    closed, count = False, 0
    for line in report.decode("utf-8", "replace").splitlines():
        row = _row(line)
        if row is not None and row[0] == nonce:
            closed = row[1] == count
        elif row is None or row[2] not in STATUSES or not (isinstance(row[0], str) and isinstance(row[1], str)):
            return Results("unittest", {}, "the report holds a line that is none of the runner's")
        else:
            count += 1
            names = dict.fromkeys((*unittest_output.aliases(row[0]), row[1]))
            pairs += [(name, row[2]) for name in names]
    problem = None if closed else "the report is not closed: the run ended before unittest did"
    return Results("unittest", gathered(pairs), problem)


def _row(line: str) -> list[Any] | None:
    try:
        row = jsonio.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, list) and len(row) == 3 else None


def read_output(text: str, exit_code: int | None) -> Results:
    """Results of printed output alone, by the form that it has."""
    for reader in READERS:
        if reader.looks_like(text):
            found: Results = reader.read(text)
            return found
    if exit_code is None:
        raise InfraError("no_results", "no exit code and no known form of output")
    return Results("exit", {}, None if exit_code in (0, 1) else f"exit code {exit_code}")
