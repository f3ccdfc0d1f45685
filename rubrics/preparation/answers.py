"""Lines that only an answer holds: what reference and test patch add, and neither base nor spec says.

They stay in this process and in the arguments of commands: they are never written into the environment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import chain, zip_longest

from rubrics.facts.diffs import parse_patch
from rubrics.preparation.config import Preparation
from rubrics.preparation.decoding import readings
from rubrics.preparation.traces import traces
from rubrics.records.tasks import SealedTask

_COMMON = re.compile(
    r"^(import |from \S+ import |#include|package |using |use |if __name__|return;?$|@pytest\.mark\.|[^\w]*$)"
)
CLEAR = 40
"""A line of this length is an answer alone; of shorter ones two must meet."""
PATTERNS = 60_000
"""Bytes of patterns that one command is given; an argument may hold 128 KiB."""


class Answers:
    """Answer lines. Shows nothing when printed."""

    __slots__ = ("__lines", "at_base", "paths")

    def __init__(self, lines: tuple[str, ...] = (), paths: tuple[str, ...] = (), at_base: int = 0) -> None:
        self.__lines = tuple((line, line.encode("utf-8", "surrogateescape")) for line in lines)
        self.paths = paths
        """Files that reference or test patch touch, relative to the work tree."""
        self.at_base = at_base
        """How many lines were left out because they stand at base."""

    def __repr__(self) -> str:
        return f"<{len(self.__lines)} answer lines>"

    def __bool__(self) -> bool:
        return bool(self.__lines)

    def lines(self) -> bytes:
        """The lines as patterns of `grep -F`, one a line."""
        return b"\n".join(data for _, data in self.__lines)

    def traces(self, most: int = PATTERNS) -> bytes:
        """Patterns by which a file is found that may hold lines in any common form: first of the lines, then of their
        forms, each line's in turn, at most so many bytes."""
        each = [[data, *traces(line[:60])] for line, data in self.__lines]
        found = dict.fromkeys(item for item in chain.from_iterable(zip_longest(*each)) if item and b"\n" not in item)
        kept, size = [], 0
        for item in found:
            size += len(item) + 1
            if size > most:
                break
            kept.append(item)
        return b"\n".join(kept)

    def seen_in(self, data: bytes | str) -> int:
        """How many different answer lines the data hold; 0 where it may be chance."""
        content = data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape")
        found = [line for _, line in self.__lines if line in content]
        enough = len(found) >= min(2, len(self.__lines)) or any(len(line) >= CLEAR for line in found)
        return len(found) if enough else 0

    def told_by(self, data: bytes | str) -> str:
        """What the data say of the answer in any form, for people; empty when nothing. Quotes nothing."""
        content = data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape")
        for reading in readings(content) if self else ():
            if count := self.seen_in(reading.data):
                return told(count, reading.how)
        return ""

    def as_paths(self) -> Answers:
        """The lines as a path can hold them: without empty names in them."""
        return Answers(tuple(re.sub("//+", "/", line) for line, _ in self.__lines), self.paths, self.at_base)

    def holds(self, data: bytes) -> bool:
        """Whether any answer line stands in the data as it is, be it by chance."""
        return any(line in data for _, line in self.__lines)

    def touch(self, data: bytes) -> bool:
        """Whether any answer line stands in the data in any form, be it by chance."""
        return any(line in reading.data for reading in readings(data) for _, line in self.__lines)

    def without_base(self, search: Callable[[bytes], Iterable[str]]) -> Answers:
        """Those that do not stand at base, which may be read. `search` gives what of the lines it finds there."""
        if not self.__lines:
            return self
        said = list(search(self.lines()))
        kept = tuple(line for line, _ in self.__lines if not any(line in item for item in said))
        return Answers(kept, self.paths, len(self.__lines) - len(kept))

    def known_at_base(self) -> bool:
        """Whether base itself holds most of the answer: then it is not what attempts should have started from."""
        return self.at_base >= 2 and self.at_base > len(self.__lines)


def told(count: int, how: str) -> str:
    """The words for lines that were found, and how they were read."""
    return f"{count} lines of the answer" + (f" ({how})" if how else "")


def answers_of(sealed: SealedTask | None, spec: str | None, config: Preparation) -> Answers:
    """The lines of a task's sealed patches that are worth searching for."""
    if sealed is None:
        return Answers()
    kinds = [_added(item.open_for("tests")) for item in (sealed.reference_patch, sealed.test_patch) if item is not None]
    paths = tuple(sorted({path for _, files in kinds for path in files}))
    chosen: list[str] = []
    for lines, _ in kinds:
        share = config.answer_lines // max(1, len(kinds))
        chosen += _best([line for line in lines if not spec or line not in spec], config.answer_length)[:share]
    return Answers(tuple(dict.fromkeys(chosen)), paths)


def _added(patch: str) -> tuple[list[str], list[str]]:
    files = parse_patch(patch).files
    lines = [line.text.strip() for file in files for hunk in file.hunks for line in hunk.lines if line.kind == "added"]
    return lines, [file.path for file in files]


def _best(lines: Iterable[str], shortest: int) -> list[str]:
    """Long enough and not common; those without characters that JSON or HTML would escape come first."""
    kept = dict.fromkeys(line for line in lines if shortest <= len(line) <= 400 and not _COMMON.match(line))
    return sorted(kept, key=lambda line: (bool(re.search(r'["\\<>&\t]', line)), -len(line)))
