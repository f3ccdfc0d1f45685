"""The Test Anything Protocol: `ok 1 - name`, `not ok 2 - name`, and the plan `1..N`; also as `prove -v` shows it.

Points of a subtest are indented by four and stand before the point that sums them up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rubrics.testing.readers.listing import called, indent_of
from rubrics.testing.results import Results, Status, gathered, grouped

_POINT = re.compile(r"(not )?ok\b ?(\d{1,9})?(.*)$", re.IGNORECASE)
_PLAN = re.compile(r"1\.\.(\d{1,9})(?: *#.*)?$")
_DIRECTIVE = re.compile(r"# ?(skip|todo)\b", re.IGNORECASE)
_FILE = re.compile(r"\S+ \.{2,} *$")
_SUBTEST = re.compile(r"# Subtest: (.*)$")
DEPTH = 20
"""Subtests deeper than this are not read."""


def looks_like(text: str) -> bool:
    """Whether this is TAP: a plan and at least one point."""
    lines = text.split("\n")
    return any(_PLAN.match(line) for line in lines) and any(_POINT.match(line) for line in lines)


class _Block:
    """Points of one level, up to their plan."""

    def __init__(self) -> None:
        self.points: list[tuple[str, Status]] = []
        self.plan: int | None = None
        self.inner: list[tuple[list[str], str, Status]] = []

    def problem(self) -> str | None:
        if self.plan is None:
            return "TAP without one plan: the run ended before its end" if self.points else None
        listed = len(self.points)
        return None if self.plan == listed else f"TAP planned {self.plan} tests, {listed} are listed"


def read(text: str) -> Results:
    """Statuses by description (by number where there is none); complete when every plan was met, once each."""
    found: list[tuple[list[str], str, Status]] = []
    levels, prove = [_Block()], False
    for line in text.split("\n"):
        depth, left = divmod(indent_of(line), 4)
        if left or depth > min(len(levels), DEPTH):
            continue
        words = line[4 * depth :]
        if not depth and _FILE.match(line):
            if (problem := levels[0].problem()) is not None:
                return _wrong(problem)
            found += _closed(levels[0])
            levels, prove = [_Block()], True
        elif prove and line == "ok":
            continue
        elif match := _PLAN.match(words):
            block = _at(levels, depth)
            if block.plan is not None:
                return _wrong("TAP without one plan: two of them")
            block.plan = int(match[1])
        elif (words[:2].lower() == "ok" or words[:6].lower() == "not ok") and (match := _POINT.match(words)):
            point = _point(match, _at(levels, depth))
            if point is None:
                return _wrong("the numbers of TAP's points do not follow each other")
            if len(levels) > depth + 1:
                inner = levels.pop()
                if inner.problem() is None and (point[1] == "failed" or _sound(inner.points)):
                    levels[depth].inner += [([point[0], *groups], name, said) for groups, name, said in _closed(inner)]
                del levels[depth + 1 :]
            levels[depth].points.append(point)
        elif words.startswith("Bail out!"):
            return _wrong("TAP: the run bailed out")
    if (problem := levels[0].problem()) is not None:
        return _wrong(problem)
    found += _closed(levels[0])
    pairs = [(" > ".join((*groups, name)), status) for groups, name, status in found]
    told = [(what, " > ".join((*groups, name))) for groups, name, _ in found for what in called(groups, name)]
    statuses = gathered(pairs)
    return Results("tap", statuses, described=grouped((what, name) for what, name in told if what != name))


def _at(levels: list[_Block], depth: int) -> _Block:
    while len(levels) <= depth:
        levels.append(_Block())
    del levels[depth + 2 :]
    return levels[depth]


def _point(match: re.Match[str], block: _Block) -> tuple[str, Status] | None:
    """The name and status of a point; null where its number is not the next."""
    number = len(block.points) + 1
    if match[2] is not None and int(match[2]) != number:
        return None
    text = match[3].strip(" ").removeprefix("-").strip(" ")
    word = ""
    for directive in _DIRECTIVE.finditer(text):
        if directive.start() == 0 or text[directive.start() - 1] != "\\":
            word, text = directive[1].lower(), text[: directive.start()].strip(" ")
            break
    name = text.replace("\\#", "#").replace("\\\\", "\\") or str(number)
    if word == "skip":
        return name, "skipped"
    if word == "todo":
        return name, "xfailed" if match[1] else "xpassed"
    return name, "failed" if match[1] else "passed"


def _sound(points: Iterable[tuple[str, Status]]) -> bool:
    return all(status != "failed" for _, status in points)


def _closed(block: _Block) -> list[tuple[list[str], str, Status]]:
    return [*(([], name, status) for name, status in block.points), *block.inner]


def _wrong(problem: str) -> Results:
    return Results("tap", {}, problem, "not_closed" if problem.endswith("before its end") else "totals_differ")
