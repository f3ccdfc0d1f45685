"""Adding up notes: one census line per subject, kind, topic and folder, with the number and up to five examples.

Lines about a task or a rollout come as they are; equal ones are added up.

A folder in which every file is broken gives one line, and so does a dump with a folder per attempt: where one kind
stands in many folders, those are counted under the folder above them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from rubrics.ingest.account import READ_AS
from rubrics.ingest.items import Note
from rubrics.records.census import CensusLine, Subject

FOLDERS = 20
"""Folders of one kind that have a line of their own."""
FEW = 4
"""The same of kinds that say what a file is, and of no trouble."""
EXAMPLES = 5
"""Places that a line names."""
DETAILS = 3
"""Different details that a line gives."""
_MANY = 5_000
"""Folders that are kept apart while notes come, however few lines there are in the end."""

_ROOT = "."
_NO_TROUBLE = frozenset({READ_AS, "sealed_beside_attempt", "empty"})


@dataclass(slots=True)
class _Group:
    """Notes of one kind and folder. Places are ordered; of files two are enough to know that there are several."""

    count: int = 0
    places: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)

    def add(self, count: int, places: list[str], files: list[str], details: list[str]) -> None:
        self.count += count
        if len(self.places) <= EXAMPLES:
            self.places = _more(self.places, places, EXAMPLES + 1)
        if len(self.files) < 2:
            self.files = _more(self.files, files, 2)
        if len(self.details) < DETAILS:
            self.details = _more(self.details, details, DETAILS)

    def line(self, subject: Subject, kind: str, folder: str) -> CensusLine:
        """The line; its place is the only place, else the only file, else the folder."""
        text = " | ".join(self.details)
        if len(self.places) == 1:
            return CensusLine("ingest", subject, kind, self.places[0], text, self.count)
        place = self.files[0] if len(self.files) == 1 else folder
        if kind == READ_AS and place != folder:
            return CensusLine("ingest", subject, kind, place, text, self.count)
        shown = [item.removeprefix(f"{place}:") for item in self.places[:EXAMPLES]]
        more = ", ..." if len(self.places) > EXAMPLES else ""
        return CensusLine("ingest", subject, kind, place, f"{text}; e.g. {', '.join(shown)}{more}", self.count)


class Tally:
    """Collects notes; `lines` gives the census lines. What it keeps of notes is bounded, however many come."""

    def __init__(self) -> None:
        self._groups: dict[tuple[Subject, str, str], dict[str, _Group]] = {}
        self._lines: Counter[CensusLine] = Counter()

    def add(self, note: Note | CensusLine) -> None:
        if isinstance(note, CensusLine):
            self._lines[replace(note, count=0)] += note.count
            return
        folders = self._groups.setdefault((note.subject, note.kind, note.topic), {})
        file = note.source.file.relative
        group = folders.setdefault(file.rpartition("/")[0] or _ROOT, _Group())
        group.add(note.count, [note.source.place], [file], [note.detail])
        if len(folders) > _MANY:
            _fold(folders, FOLDERS)

    def lines(self) -> Iterator[CensusLine]:
        """The lines, sorted."""
        found = [replace(line, count=count) for line, count in self._lines.items()]
        for (subject, kind, _), folders in self._groups.items():
            _fold(folders, FEW if kind in _NO_TROUBLE else FOLDERS)
            found += [group.line(subject, kind, folder) for folder, group in folders.items()]
        yield from sorted(found, key=lambda line: (line.subject, line.kind, line.place, line.detail))


def _fold(folders: dict[str, _Group], most: int) -> None:
    """Count the deepest folders under those above them until few are left."""
    while len(folders) > most:
        deepest = max(map(_depth, folders))
        for folder in [folder for folder in folders if _depth(folder) == deepest]:
            group = folders.pop(folder)
            above = folders.setdefault(folder.rpartition("/")[0] or _ROOT, _Group())
            above.add(group.count, group.places, group.files, group.details)


def _depth(folder: str) -> int:
    return 0 if folder == _ROOT else folder.count("/") + 1


def _more(known: list[str], new: list[str], most: int) -> list[str]:
    """The known ones and those that are new, `most` of them."""
    return [*known, *(item for item in new if item not in known)][:most]
