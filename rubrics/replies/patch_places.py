"""Lines of a patch by path and number: what `patch:<path>:<line>` points at."""

from __future__ import annotations

from collections.abc import Iterator

from rubrics.facts.diff_paths import NOWHERE, strip_prefixes
from rubrics.facts.diff_text import AS_WRITTEN, HUNK, RawFile, Scanner, names, split_lines, written_lines
from rubrics.replies.quotes import foldings, stands_in, starts_on
from rubrics.visible import defused, one_line


class PatchPlaces:
    """The hunks of a patch by the paths of their files; parsed once, as facts are.

    A quote may also stand in the file's path, or in what the diff says above the hunk: a prompt shows both, and both
    may hold text written for the grader. A file without hunks (binary, renamed) has a path alone, at any line.
    """

    def __init__(self, text: str) -> None:
        scanner = Scanner(split_lines(text, set()), set())
        scanner.scan()
        self._files: dict[str, list[RawFile]] = {}
        self._written = text
        for file in scanner.files:
            for name in _paths(file):
                self._files.setdefault(name, []).append(file)

    def wrong(self, path: str, line: int, quote: str) -> str | None:
        """What is wrong with a pointer, in words; null when the quote starts on that line of that file."""
        files = self._files.get(path)
        if files is None:
            if path == AS_WRITTEN:
                return self._wrong_as_written(line, quote)
            return "the patch changes no file of this path"
        named = stands_in(quote, foldings(path))
        if named and not any(file.hunks for file in files):
            return None
        found = False
        for hunk, at in (place for file in files for place in _places(file, line)):
            found = True
            if named or starts_on(quote, hunk, at) or stands_in(quote, foldings(_section(hunk))):
                return None
        return "the quote does not start on this line" if found else "the patch shows no line of this number"

    def _wrong_as_written(self, line: int, quote: str) -> str | None:
        lines = [f" {text}" for text in written_lines(self._written)]
        if line > len(lines):
            return f"the patch has {len(lines)} lines as written"
        return None if starts_on(quote, lines, line - 1) else "the quote does not start on this line"


def _section(hunk: list[str]) -> str:
    header = HUNK.match(hunk[0])
    return header[5] if header is not None else ""


def _paths(file: RawFile) -> set[str]:
    """The names that a file of the patch goes by: with and without `a/` and `b/`, as they are and as they are shown."""
    written = names(file)
    plain = {*written, *strip_prefixes(*written)} - {NOWHERE, ""}
    return plain | {shown for name in plain for shown in (one_line(name), defused(one_line(name)))}


def _places(file: RawFile, number: int) -> Iterator[tuple[list[str], int]]:
    """Where lines of this number stand, as hunk and index; a removed line has its number in the old file."""
    for hunk in file.hunks:
        header = HUNK.match(hunk[0])
        assert header is not None  # the scanner wrote it
        old, new = int(header[1]), int(header[3])
        if not (new <= number < new + len(hunk) or old <= number < old + len(hunk)):
            continue
        for at in range(1, len(hunk)):
            mark = hunk[at][0]
            if number == (old if mark == "-" else new):
                yield hunk, at
            old += mark != "+"
            new += mark != "-"
