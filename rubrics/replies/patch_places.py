"""Lines of a patch by path and number: what `patch:<path>:<line>` points at."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rubrics.facts.diff_paths import NOWHERE, strip_prefixes
from rubrics.facts.diff_text import AS_WRITTEN, HUNK, RawFile, Scanner, names, split_lines, written_lines
from rubrics.replies.quotes import Quote, foldings
from rubrics.visible import defused, one_line

_PLAIN = re.compile(r"[A-Za-z0-9_./-]*")
"""Names that are shown as they are."""


class PatchPlaces:
    """The hunks of a patch by the paths of their files; parsed once, as facts are.

    A quote may also stand in the file's path, or in what the diff says above the hunk: a prompt shows both, and both
    may hold text written for the grader. A file without hunks (binary, renamed) has a path alone, at any line.
    """

    def __init__(self, text: str) -> None:
        scanner = Scanner(split_lines(text, set()), set())
        scanner.scan()
        self._written = text
        self._files: dict[str, list[_File]] = {}
        for raw in scanner.files:
            file = _File(raw)
            for name in _paths(raw):
                self._files.setdefault(name, []).append(file)

    def wrong(self, path: str, line: int, quote: Quote) -> str | None:
        """What is wrong with a pointer, in words; null when the quote starts on that line of that file."""
        files = self._files.get(path)
        if files is None:
            if path == AS_WRITTEN:
                return self._wrong_as_written(line, quote)
            return "the patch changes no file of this path"
        places = [place for file in files for place in file.places(line)]
        if any(quote.starts_on(hunk.lines, at) for hunk, at in places):
            return None
        if (places or not any(file.hunks for file in files)) and quote.is_in_forms(foldings(path)):
            return None
        if any(quote.is_in_forms(foldings(hunk.section)) for hunk, _ in places):
            return None
        return "the quote does not start on this line" if places else "the patch shows no line of this number"

    def _wrong_as_written(self, line: int, quote: Quote) -> str | None:
        lines = [f" {text}" for text in written_lines(self._written)]
        if line > len(lines):
            return f"the patch has {len(lines)} lines as written"
        return None if quote.starts_on(lines, line - 1) else "the quote does not start on this line"


class _Hunk:
    """A hunk that finds its lines by number: of the new file, and of the old one for removed lines."""

    __slots__ = ("_counts", "_sides", "_starts", "lines", "section")

    def __init__(self, lines: list[str]) -> None:
        header = HUNK.match(lines[0])
        assert header is not None  # the scanner wrote it, with true counts
        self._starts = {"-": int(header[3]), "+": int(header[1])}
        self._counts = {"-": int(header[4]), "+": int(header[2])}
        self._sides: dict[str, list[int]] = {}
        self.section = header[5]
        self.lines = lines[1:]

    def at(self, number: int) -> Iterator[int]:
        """Where the lines of this number stand, as indices of `lines`."""
        if 0 <= (place := number - self._starts["-"]) < self._counts["-"]:
            yield self._side("-")[place]
        if 0 <= (place := number - self._starts["+"]) < self._counts["+"]:
            index = self._side("+")[place]
            if self.lines[index][0] == "-":
                yield index

    def _side(self, other: str) -> list[int]:
        """The indices of the lines of one side: those that do not carry the other side's marker."""
        if other not in self._sides:
            self._sides[other] = [at for at, line in enumerate(self.lines) if line[0] != other]
        return self._sides[other]


class _File:
    """A file of the patch; its hunks are made when they are first asked for."""

    __slots__ = ("_hunks", "_raw")

    def __init__(self, raw: RawFile) -> None:
        self._raw = raw
        self._hunks: list[_Hunk] | None = None

    @property
    def hunks(self) -> list[_Hunk]:
        if self._hunks is None:
            self._hunks = [_Hunk(lines) for lines in self._raw.hunks]
        return self._hunks

    def places(self, number: int) -> Iterator[tuple[_Hunk, int]]:
        return ((hunk, at) for hunk in self.hunks for at in hunk.at(number))


def _paths(file: RawFile) -> set[str]:
    """The names that a file of the patch goes by: old and new path, with `a/` or `b/` before it or not, as it is and as
    it is shown."""
    written = names(file)
    bare = {*strip_prefixes(*written)} - {NOWHERE, ""}
    plain = {*written, *bare, *(side + name for side in ("a/", "b/") for name in bare)} - {NOWHERE, ""}
    if all(map(_PLAIN.fullmatch, plain)):
        return plain
    return plain | {shown for name in plain for shown in (one_line(name), defused(one_line(name)))}
