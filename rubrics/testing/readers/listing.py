"""What readers of listings have in common: names in groups, and numbers that must agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rubrics.testing.results import BAD, Results, Status, gathered, grouped

Pair = tuple[str, Status]


def agreed(
    form: str,
    pairs: Sequence[Pair],
    stated: Mapping[Status, int],
    *,
    failures: frozenset[str] | None = None,
    described: Iterable[tuple[str, str]] = (),
    partial: bool = False,
    runs: int = 1,
) -> Results:
    """Results of a listing, if its numbers are those that the runner states.

    `stated` holds passed, failed (errors among them) and, where the runner counts them, skipped. `failures` are the
    tests that the runner lists as failed at its end: a line that says that one of them passed was printed by a test.
    With `partial` the runner may name fewer passes than it counts; they are then not known.
    """
    failures = frozenset() if failures is None else failures
    bad = {name for name, status in pairs if status in BAD} | failures
    passed = [name for name, status in pairs if status == "passed" and name not in failures]
    skipped = sum(status == "skipped" for _, status in pairs)
    wrong = sum(status in BAD and name not in failures for name, status in pairs) + len(failures)
    fewer = (partial and len(passed) < stated.get("passed", 0)) or not passed
    numbers = {"failed": (min(wrong, len(bad)) if failures else wrong, stated.get("failed", 0))}
    if not fewer:
        numbers["passed"] = (len(passed), stated.get("passed", 0))
    if "skipped" in stated and not fewer:
        numbers["skipped"] = (skipped, stated["skipped"])
    for status, (listed, counted) in numbers.items():
        if listed != counted:
            problem = f"{listed} tests are listed as {status}, {form} counted {counted}"
            return Results(form, {}, problem, "totals_differ", runs=runs)
    complete = not fewer or not stated.get("passed", 0)
    kept = [(name, status) for name, status in pairs if status in BAD or (complete and name not in failures)]
    statuses = gathered([*kept, *((name, "failed") for name in failures)])
    told = grouped((what, name) for what, name in described if name in statuses and what != name)
    return Results(form, statuses, complete=complete, described=told, runs=runs)


def cut_off(form: str, runs: int = 1) -> Results:
    """The results of a run that did not write its end."""
    return Results(form, {}, f"{form} did not write its closing lines: the run ended before its end", runs=runs)


def called(groups: Sequence[str], title: str) -> list[str]:
    """What rows call a test in groups: its title alone, and joined as runners join them."""
    parts = [*groups, title]
    return list(dict.fromkeys((title, " ".join(parts), " > ".join(parts), " › ".join(parts), "::".join(parts))))


class Groups:
    """The groups that a line stands in, by how far lines are indented."""

    def __init__(self) -> None:
        self._stack: list[tuple[int, str]] = []

    def enter(self, indent: int, name: str) -> None:
        """A group begins at a line of this indent."""
        self.leave(indent)
        self._stack.append((indent, name))

    def leave(self, indent: int) -> None:
        """Lines of this indent stand outside of what is indented as far or further."""
        while self._stack and self._stack[-1][0] >= indent:
            self._stack.pop()

    def of(self, indent: int) -> list[str]:
        """Names of the groups around a line of this indent, outermost first."""
        self.leave(indent)
        return [name for _, name in self._stack]


def indent_of(line: str) -> int:
    """Blanks at the beginning of a line."""
    return len(line) - len(line.lstrip(" "))
