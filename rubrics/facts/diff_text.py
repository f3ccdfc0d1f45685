"""Cleans the text of a diff: what surrounds it is left out, hunks whose counts are wrong are counted again.

Covered: blank lines and fences around the diff, CRLF and CR, prose, wrong counts, binary files, renames, mode changes,
mail and Subversion headers. Not covered: combined diffs (`@@@`) and context diffs, whose hunks are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rubrics.facts.diff_paths import NOWHERE, git_paths, header_path, unquote

HUNK = re.compile(r"@@ -(\d{1,18})(?:,(\d{1,18}))? \+(\d{1,18})(?:,(\d{1,18}))? @@ ?(.*)")
_NUMBERS = re.compile(r"[-+](\d{1,18})")
_FURNITURE = re.compile(
    r"(?:diff |index |Index: |old mode|new mode|similarity |dissimilarity |copy |====|Only in |Property changes|-- ?$)"
)
_SIGNATURES = ("-- ", "--")
AS_WRITTEN = "as written"
"""In place of a path: the lines of the patch's whole text."""


@dataclass(slots=True)
class RawFile:
    """One file of a diff, with its headers as written."""

    git: str = ""
    old: str = ""
    new: str = ""
    renamed: bool = False
    created: bool = False
    deleted: bool = False
    binary: bool = False
    hunks: list[list[str]] = field(default_factory=list)
    """Each hunk as lines of a clean diff: a header with true counts, then the body."""


def split_lines(text: str, notes: set[str]) -> list[str]:
    """The lines without line endings and without blank lines at both ends; notes what had to be done."""
    if "\r" in text:
        if "\n" not in text or re.search(r"^(?:diff --git|---|@@) [^\n\r]*\r(?!\r*\n)", text, re.MULTILINE):
            notes.add("crlf")
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        elif re.search(r"^(?:diff --git|---|@@) [^\n\r]*\r", text, re.MULTILINE):
            notes.add("crlf")
    if text[:1] in ("\n", "\r", " ", "\t") and text.strip():
        notes.add("leading_newline")
    lines = text.split("\n")
    if "\r" in text:
        lines = [line.rstrip("\r") for line in lines]
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1]:  # a line of one blank is context of a hunk
        end -= 1
    return lines[start:end]


class Scanner:
    """One pass over the lines of a diff; `files` and `notes` hold the result after `scan`."""

    def __init__(self, lines: list[str], notes: set[str]) -> None:
        self.lines = lines
        self.notes = notes
        self.files: list[RawFile] = []
        self._file: RawFile | None = None

    def scan(self) -> None:
        position = 0
        while position < len(self.lines):
            position = self._step(position)

    def _step(self, at: int) -> int:
        line = self.lines[at]
        if line.startswith("@@"):
            return self._hunk(at)
        if line.startswith("diff --git "):
            self._open(git=line[11:])
        elif line.startswith("--- ") and at + 1 < len(self.lines) and self.lines[at + 1].startswith("+++"):
            self._names(line[4:], self.lines[at + 1][4:])
            return at + 2
        elif line.startswith("GIT binary patch"):
            return self._binary_literal(at)
        elif line.strip():
            self._extended(line)
        return at + 1

    def _open(self, git: str = "") -> RawFile:
        self._file = RawFile(git)
        self.files.append(self._file)
        return self._file

    def _names(self, old: str, new: str) -> None:
        file = self._file
        if file is None or file.new or file.hunks or file.binary:
            file = self._open()
        file.old, file.new = header_path(old), header_path(new)
        file.created |= file.old == NOWHERE
        file.deleted |= file.new == NOWHERE

    def _extended(self, line: str) -> None:
        file = self._file
        if line.startswith("Binary file"):
            if file is None or file.hunks or not file.git:
                file = self._open(git=line.split(" ", 2)[-1].rsplit(" differ", 1)[0].replace(" and ", " "))
            file.binary = True
        elif line.startswith("```") or line.startswith("~~~"):
            self.notes.add("fenced")
        elif line.startswith("\\") or _FURNITURE.match(line):
            pass
        elif file is None or file.hunks or not self._header(file, line):
            self.notes.add("prose")

    @staticmethod
    def _header(file: RawFile, line: str) -> bool:
        if line.startswith("new file mode"):
            file.created = True
        elif line.startswith("deleted file mode"):
            file.deleted = True
        elif line.startswith("rename from "):
            file.old, file.renamed = "a/" + unquote(line[12:]), True
        elif line.startswith("rename to "):
            file.git, file.renamed = f"{file.old} b/{unquote(line[10:])}", True
        else:
            return False
        return True

    def _binary_literal(self, at: int) -> int:
        (self._file or self._open()).binary = True
        at += 1
        while at < len(self.lines) and not self.lines[at].startswith("diff --git "):
            at += 1
        return at

    def _hunk(self, at: int) -> int:
        line = self.lines[at]
        match = HUNK.match(line)
        if line.startswith("@@@"):
            self.notes.add("combined")
            return at + 1
        if match is None:
            self.notes.add("hunk_header")
            numbers = [*map(int, _NUMBERS.findall(line[:80])[:2]), 1, 1]
            old_start, new_start, section, end = numbers[0], numbers[1], "", -1
        else:
            old_start, new_start, section = int(match[1]), int(match[3]), match[5]
            end = self._counted_end(at + 1, int(match[2] or 1), int(match[4] or 1))
        if end < 0 or self._goes_on(end):
            end = self._recounted_end(at + 1)
            if match is not None:
                self.notes.add("hunk_count")
        self._keep(old_start, new_start, section, self.lines[at + 1 : end])
        return end

    def _keep(self, old_start: int, new_start: int, section: str, body: list[str]) -> None:
        marks = [line[:1] for line in body]
        if len(body) != marks.count("+") + marks.count("-") + marks.count(" "):
            body = [line if line[:1] in ("+", "-", " ") else f" {line}" for line in body if line[:1] != "\\"]
        added, removed = marks.count("+"), marks.count("-")
        if self._file is None:
            self.notes.add("no_header")
        elif added or removed:
            kept = len(body) - added - removed
            header = f"@@ -{old_start},{kept + removed} +{new_start},{kept + added} @@ {section}"
            self._file.hunks.append([header, *body])

    def _counted_end(self, at: int, old: int, new: int) -> int:
        """Where a hunk of `old` and `new` lines ends; -1 when the lines do not add up to that."""
        while old > 0 or new > 0:
            if at == len(self.lines):
                if old != new:
                    return -1
                self.notes.add("trailing_context")  # blank context at the text's end was stripped with it
                return at
            mark = self.lines[at][:1]
            if mark == "+":
                new -= 1
            elif mark == "-":
                old -= 1
            elif mark in ("", " "):
                old -= 1
                new -= 1
            elif mark != "\\":
                return -1
            at += 1
        return at if old == new == 0 else -1

    def _goes_on(self, at: int) -> bool:
        """Whether more lines of the hunk stand where its counts say that it ends."""
        while at < len(self.lines) and (self.lines[at][:1] == "\\" or not self.lines[at].strip()):
            at += 1
        if at == len(self.lines) or self.lines[at] in _SIGNATURES or self._is_file_header(at):
            return False
        return self.lines[at][0] in "+- "

    def _is_file_header(self, at: int) -> bool:
        following = self.lines[at : at + 3]
        return (
            len(following) == 3
            and following[0].startswith("--- ")
            and following[1].startswith("+++ ")
            and following[2].startswith("@@")
        )

    def _recounted_end(self, at: int) -> int:
        end = at
        while at < len(self.lines):
            mark = self.lines[at][:1]
            if mark not in ("", "+", "-", " ", "\\", "\t") or self.lines[at] in _SIGNATURES or self._is_file_header(at):
                break
            at += 1
            if mark:
                end = at
        return end


def written_lines(text: str) -> list[str]:
    """The lines of a patch as they are, for what is no part of a file: `patch:as written:<n>` is the n-th from 1."""
    return text.strip("\n").split("\n")


def names(file: RawFile) -> tuple[str, str]:
    """Old and new path as written, taken from the git header where the file has no `---` and `+++`."""
    if file.new and not file.renamed:
        return file.old, file.new
    old, new = git_paths(file.git)
    return old, new
