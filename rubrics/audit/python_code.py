"""Python that a patch adds, as syntax trees.

A hunk is parsed with the lines around it; where that is no Python, its added lines alone.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rubrics.audit.lines import Added
from rubrics.audit.python_values import bind
from rubrics.facts.python_trees import image, tree
from rubrics.records.patches import FileChange, Line

_TRIES, _LARGE = 6, 20_000
"""Lines left out at the beginning or end of a hunk until it is Python; of a hunk of so many characters, none."""


@dataclass(slots=True)
class Piece:
    """A part of a file that is Python."""

    tree: ast.Module
    lines: Sequence[Line]
    """The lines of the tree, the first one being number 1."""
    names: dict[str, str] = field(default_factory=dict)
    """What local names stand for, as dotted paths: by imports and simple assignments."""


@dataclass(frozen=True, slots=True)
class Code:
    """One Python file of a patch."""

    change: FileChange
    added: dict[int, Added]
    """Added lines by number."""
    pieces: tuple[Piece, ...]
    before: str
    """What stood there: lines that the patch keeps or removes."""

    def nodes(self) -> Iterator[tuple[ast.AST, Piece, Added]]:
        """Every node that begins on an added line, with that line."""
        for piece in self.pieces:
            for node in ast.walk(piece.tree):
                line = self.line_of(node, piece)
                if line is not None:
                    yield node, piece, line

    def line_of(self, node: ast.AST, piece: Piece) -> Added | None:
        """The added line on which a node begins; null where the patch does not add it."""
        number = getattr(node, "lineno", None)
        if number is None or not 0 < number <= len(piece.lines):
            return None
        line = piece.lines[number - 1]
        return self.added.get(line.number) if line.kind == "added" else None


def code_of(change: FileChange, added: Sequence[Added]) -> Code:
    """The Python of a changed file."""
    pieces = [piece for hunk in change.hunks for piece in _pieces(image(hunk))]
    names: dict[str, str] = {}
    for piece in pieces:
        bind(piece.tree, names)
    for piece in pieces:
        piece.names = names
    before = "\n".join(line.text for hunk in change.hunks for line in hunk.lines if line.kind != "added")
    return Code(change, {line.number: line for line in added}, tuple(pieces), before)


def nested(source: str, line: Added) -> Code | None:
    """Python in a constant, as if all of it stood on the line that holds the constant."""
    found = tree(textwrap.dedent(source))
    if found is None or not found.body:
        return None
    same = Line("added", line.text, line.number)
    piece = Piece(found, [same] * (source.count("\n") + 1))
    bind(found, piece.names)
    change = FileChange(line.path, "modified", None, False, ())
    return Code(change, {line.number: line}, (piece,), "")


def _pieces(lines: list[Line]) -> list[Piece]:
    tries = _TRIES if sum(len(line.text) for line in lines) < _LARGE else 1
    for first in range(min(tries, len(lines))):
        for last in range(min(tries, len(lines) - first)):
            cut = lines[first : len(lines) - last]
            outside = [*lines[:first], *lines[len(lines) - last :]]
            if any(line.kind == "added" for line in outside):
                break
            found = _parsed(cut)
            if found is not None:
                return [found]
    runs: list[list[Line]] = [[]]
    for line in lines:
        if line.kind == "added":
            runs[-1].append(line)
        elif runs[-1]:
            runs.append([])
    return [found for run in runs if run and (found := _parsed(run)) is not None]


def _parsed(lines: list[Line]) -> Piece | None:
    """The lines as Python: as they are, or as the inside of something."""
    text = textwrap.dedent("\n".join(line.text.replace("\f", " ") for line in lines))
    found = tree(text)
    if found is not None:
        return Piece(found, lines)
    if text[:1] in (" ", "\t"):  # the first line lies deeper than a later one
        found = tree("if 1:\n" + text)
        if found is not None:
            return Piece(found, [Line("kept", "", 0), *lines])
    return None
