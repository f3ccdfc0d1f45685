"""Results of printed output alone: which reader reads it, and what it means when none can."""

from __future__ import annotations

import re
from types import ModuleType

from rubrics.testing.readers import (
    cargo_output,
    go_output,
    gtest_output,
    jest_output,
    lines,
    maven_output,
    mocha_output,
    phpunit_output,
    pytest_output,
    rspec_output,
    sympy_output,
    tap,
    unittest_output,
    vitest_output,
)
from rubrics.testing.results import Results

READERS: tuple[ModuleType, ...] = (
    pytest_output, unittest_output, go_output, cargo_output, gtest_output, jest_output, vitest_output, mocha_output,
    rspec_output, phpunit_output, maven_output, sympy_output, tap,
)  # fmt: skip
"""Readers of printed output, tried in this order: `looks_like(text)`, `read(text)`, both linear in the text."""

_COMMANDS: tuple[tuple[str, ModuleType], ...] = (
    (r"\bpy\.?test\b", pytest_output),
    (r"\bunittest\b|\bruntests\.py\b|\bmanage\.py test\b|\bnose2\b", unittest_output),
    (r"\bgo test\b", go_output), (r"\bcargo\b", cargo_output), (r"\bjest\b", jest_output),
    (r"\bvitest\b", vitest_output),
    (r"\bmocha\b|\bnode --test\b", mocha_output), (r"\brspec\b", rspec_output), (r"\bphpunit\b", phpunit_output),
    (r"\bmvnw?\b", maven_output), (r"\bprove\b", tap),
    (r"\bbin/test\b", sympy_output),
)  # fmt: skip
_RUNNER = (
    r"(?:\S*/)?(?:pytest|py\.test|python[\d.]*|tox|nose2|go|cargo|npm|npx|yarn|pnpm|node|deno|bun|jest|mocha|vitest|mvn|mvnw"
    r"|gradle|gradlew|rspec|bundle|ruby|php|phpunit|ctest|prove|perl|make|dotnet)"
)
_MODULE = r"'?(?:_?pytest|py|pluggy|iniconfig|unittest|nose2?|tox|django|xdist)(?:\.[\w.]+)?'?"
_NO_COMMAND = re.compile(
    rf"(?:\S+: )?(?:line \d+: |\d+: )?(?:exec: )?{_RUNNER}: (?:command )?not found"
    rf"|(?:\S+: )?(?:line \d+: )?{_RUNNER}: No such file or directory"
    rf"|\S+: (?:failed to run command )?['\u2018]{_RUNNER}['\u2019]: No such file or directory"
)
_NO_MODULE = re.compile(rf"(?:\S*python[\d.]*: No module named|ModuleNotFoundError: No module named) {_MODULE}")
LAST_LINES = 4
"""How near the end of a log the line must stand that says that the runner is missing: nothing ran after it."""


def read_output(text: str, exit_code: int | None, command: str | None = None) -> Results:
    """Results of what a command printed. The command's words say which reader goes first.

    A test may print what looks like another runner's output; of two readers that find nothing wrong the first counts.
    """
    plain = lines.plain(text)
    found: Results | None = None
    for reader in _in_order(command):
        if reader.looks_like(plain):
            results: Results = reader.read(plain)
            if results.problem is None:
                return results
            found = found or results
    if found is not None:
        return found
    missing = runner_missing(plain)
    if missing is not None or exit_code in (126, 127):
        return Results("exit", {}, f"the runner never started: {missing or f'exit code {exit_code}'}", "runner_missing")
    if exit_code is None:
        return Results("exit", {}, "no known form of output", "no_results")
    return Results("exit", {}, None if exit_code in (0, 1) else f"exit code {exit_code}")


def runner_missing(text: str) -> str | None:
    """The line that says that the runner could not be started; null when the log does not end so."""
    for line in lines.tail(text, LAST_LINES):
        if len(line) < 400 and (_NO_COMMAND.fullmatch(line) or _NO_MODULE.fullmatch(line)):
            return line
    return None


def _in_order(command: str | None) -> list[ModuleType]:
    named = [reader for words, reader in _COMMANDS if re.search(words, command)] if command else []
    return [*named[:1], *(reader for reader in READERS if reader not in named[:1])]
