"""A patch, parsed: what facts and contrasts are measured on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a hunk, without its marker and without its line ending."""

    kind: Literal["added", "removed", "kept"]
    text: str
    number: int
    """Line number from 1: in the new file for added and kept lines, in the old file for removed ones."""


@dataclass(frozen=True, slots=True)
class Hunk:
    section: str
    """What the diff says stands above the hunk (often `def name(...)`); may be empty."""
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class FileChange:
    path: str
    """Path in the new tree (in the old tree for a deletion), with `/`, without `a/` and `b/`."""
    change: Literal["added", "deleted", "modified", "renamed"]
    old_path: str | None
    binary: bool
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True, slots=True)
class Patch:
    files: tuple[FileChange, ...]
    """In the order of their paths: the order in the text means nothing."""
    malformed: tuple[str, ...]
    """What was not a clean diff, in words: `fenced`, `leading_newline`, `crlf`, `hunk_count`, `prose`."""
