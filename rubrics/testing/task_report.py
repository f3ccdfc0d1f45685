"""JUnit XML that a task's command writes inside the environment, at a place that the task row names."""

from __future__ import annotations

import re

from rubrics.environments.session import CommandResult, Session
from rubrics.errors import InfraError
from rubrics.testing.bounded import Reader
from rubrics.testing.results import BAD, Results

_PATTERN = re.compile(r"/?[\w.*?+-]+(/[\w.*?+-]+)*")
SECONDS = 60.0


def check_pattern(pattern: str) -> str:
    """The path or glob of a report, if it is one that a shell takes as it stands. Raises `InfraError`."""
    if not _PATTERN.fullmatch(pattern) or ".." in pattern.split("/"):
        message = f"test_report {pattern!r}; wanted a path without blanks and `..`, `*` and `?` allowed"
        raise InfraError("test_report", f"{message}; correct the task row")
    return pattern


def clear(session: Session, pattern: str) -> None:
    """Remove what stands where reports will be, and links on the way there. Raises `InfraError` when some stays."""
    links = " ".join(_parents(pattern))
    command = f'for d in {links or ""}; do [ ! -L "$d" ] || rm -f -- "$d"; done; rm -rf -- {pattern}; '
    command += f'for f in {pattern}; do [ ! -e "$f" ] || exit 1; done'
    if session.run(command, SECONDS).exit_code != 0:
        raise InfraError("steering", f"{pattern}: what stands there cannot be removed")


def results_of(session: Session, pattern: str, done: CommandResult, reader: Reader) -> Results:
    """What the reports say; a link in place of one, or of a folder above it, is a problem and is not read."""
    links = " ".join(_parents(pattern))
    command = f'for d in {links or ""}; do [ ! -L "$d" ] || exit 9; done; '
    command += f'for f in {pattern}; do [ ! -L "$f" ] || exit 9; [ ! -f "$f" ] || echo "$f"; done'
    listed = session.run(command, SECONDS)
    if listed.exit_code == 9:
        return Results("junit", {}, f"{pattern}: a link stands where a report should be")
    if listed.exit_code != 0 or listed.truncated:
        return Results("junit", {}, f"{pattern}: the reports cannot be listed (exit code {listed.exit_code})")
    try:
        results = reader.reports([session.read(path) for path in listed.output.splitlines()])
    except OSError as error:
        return Results("junit", {}, f"{pattern}: a report cannot be read: {error}")
    if results.problem is None and done.exit_code != 0 and not any(s in BAD for s in results.statuses.values()):
        problem = f"no test failed by the report, and the exit code is {done.exit_code}"
        return Results("junit", results.statuses, problem)
    return results


def _parents(pattern: str) -> list[str]:
    return [pattern[:end] for end, sign in enumerate(pattern) if sign == "/" and end]
