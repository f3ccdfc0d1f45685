"""Lines of a patch by path and number: what `patch:<path>:<line>` points at."""

from __future__ import annotations

from collections.abc import Iterator

from rubrics.facts.diff_paths import NOWHERE, strip_prefixes
from rubrics.facts.diff_text import HUNK, RawFile, Scanner, names, split_lines
from rubrics.replies.quotes import starts_on
from rubrics.visible import one_line


class PatchPlaces:
    """The hunks of a patch by the paths of their files; parsed once, as facts are."""

    def __init__(self, text: str) -> None:
        scanner = Scanner(split_lines(text, set()), set())
        scanner.scan()
        self._files: dict[str, list[RawFile]] = {}
        for file in scanner.files:
            for name in _paths(file):
                self._files.setdefault(name, []).append(file)

    def wrong(self, path: str, line: int, quote: str) -> str | None:
        """What is wrong with a pointer, in words; null when the quote starts on that line of that file."""
        files = self._files.get(path)
        if files is None:
            return "the patch changes no file of this path"
        found = False
        for hunk, at in (place for file in files for place in _places(file, line)):
            found = True
            if starts_on(quote, hunk, at):
                return None
        return "the quote does not start on this line" if found else "the patch shows no line of this number"


def _paths(file: RawFile) -> set[str]:
    """The names that a file of the patch goes by: with and without `a/` and `b/`, as they are and as they are shown."""
    written = names(file)
    plain = {*written, *strip_prefixes(*written)} - {NOWHERE, ""}
    return plain | {one_line(name) for name in plain}


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
