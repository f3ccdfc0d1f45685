"""Adding up census lines: equal ones become one, and a file that breaks everywhere cannot fill the memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rubrics.records.census import CensusLine, Subject

MOST = 200
"""Lines of one kind that are kept apart for one file; what goes beyond is counted in one more line."""

_Key = tuple[str, Subject, str, str, str]


class Tally:
    """Census lines by everything but their count."""

    def __init__(self) -> None:
        self._counts: Counter[_Key] = Counter()
        self._kept: Counter[tuple[str, str]] = Counter()

    def add(self, line: CensusLine) -> None:
        key: _Key = (line.stage, line.subject, line.kind, line.place, line.detail)
        if key not in self._counts and line.subject == "file":
            file = line.place.partition(":")[0]
            self._kept[line.kind, file] += 1
            if self._kept[line.kind, file] > MOST:
                key = (line.stage, line.subject, line.kind, file, f"more than {MOST} lines of this kind; the others")
        self._counts[key] += line.count

    def lines(self) -> Iterator[CensusLine]:
        """The lines, sorted."""
        for key in sorted(self._counts):
            yield CensusLine(*key, count=self._counts[key])
