"""What the lint is given and what it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rubrics.records.rubrics import Kind


@dataclass(frozen=True, slots=True)
class Wrong:
    """What is wrong, and what to do about it: half sentences without a full stop, fit to be shown to the author."""

    what: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule that one criterion breaks."""

    kind: Kind
    place: int
    """Position of the criterion in its rubric's draft, from 0: ids may not be unique yet."""
    criterion_id: str
    rule: str
    """Name of the lint rule, or of what the trial found."""
    wrong: Wrong

    def words(self) -> str:
        return f"{self.kind} criterion {self.criterion_id}: {self.wrong.what}. {self.wrong.remedy}."


@dataclass(frozen=True, slots=True)
class Studied:
    """What the lint knows of one studied attempt."""

    label: str
    """`attempt-1`, ...: the name that the author knows it by."""
    added: str
    """The lines that its patch adds, and the paths that it changes, one a line."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What criteria may rest on, and what they may not copy. Of the sealed text it holds nothing but two answers."""

    spec: str | None
    studied: tuple[Studied, ...]
    tests: frozenset[str]
    """Ids of the tests that decide the outcome."""
    line_stands: Callable[[str, int, str], bool]
    """(path, line from 1, quote): whether the file has that line at base, or in the new state of a studied attempt, and
    the quote's first line stands on it, blanks collapsed."""
    name_stands: Callable[[str], bool]
    """Whether a name (a word, or a path) stands at base, as far as base is known."""
    copies_sealed: Callable[[str], bool]
    """Whether a text repeats a passage of what is sealed."""
    check_rule: Callable[[str, Kind, str], frozenset[str]]
    """(rule, kind, place): the names that the rule uses; raises `RubricError` unless it is allowed."""
