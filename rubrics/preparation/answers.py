"""Lines that only an answer holds: what reference and test patch add, and neither base nor spec says.

They stay in this process and in the arguments of commands: they are never written into the environment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rubrics.facts.diffs import parse_patch
from rubrics.preparation.config import Preparation
from rubrics.preparation.repository import open_view
from rubrics.preparation.shell import quote
from rubrics.records.tasks import SealedTask

if TYPE_CHECKING:
    from rubrics.preparation.place import Place

_COMMON = re.compile(
    r"^(import |from \S+ import |#include|package |using |use |if __name__|return;?$|@pytest\.mark\.|[^\w]*$)"
)
CLEAR = 40
"""A line of this length is an answer alone; of shorter ones two must meet."""


class Answers:
    """Answer lines. Shows nothing when printed."""

    __slots__ = ("__lines", "at_base", "paths")

    def __init__(self, lines: tuple[str, ...] = (), paths: tuple[str, ...] = (), at_base: int = 0) -> None:
        self.__lines = lines
        self.paths = paths
        """Files that reference or test patch touch, relative to the work tree."""
        self.at_base = at_base
        """How many lines were left out because they stand at base."""

    def __repr__(self) -> str:
        return f"<{len(self.__lines)} answer lines>"

    def __bool__(self) -> bool:
        return bool(self.__lines)

    def arguments(self) -> str:
        """The lines as patterns of `grep -F`, for a command line."""
        return " ".join(f"-e {quote(line)}" for line in self.__lines)

    def seen_in(self, text: str) -> int:
        """How many different answer lines a text holds; 0 where it may be chance."""
        found = [line for line in self.__lines if line in text]
        enough = len(found) >= min(2, len(self.__lines)) or any(len(line) >= CLEAR for line in found)
        return len(found) if enough else 0

    def without_base(self, place: Place) -> Answers:
        """Those that do not stand at base: base may be read."""
        if not self.__lines:
            return self
        if place.repository is not None:
            open_view(place.shell, place.repository.git_dir, place.repository.common)
            script = (
                f'GIT_DIR="$S/view" g grep -h -o -a -F {self.arguments()} {quote(place.repository.base)} -- | sort -u'
            )
        else:
            files = " ".join(quote(f"{place.top}/{path}") for path in self.paths)
            script = f"grep -h -o -a -F {self.arguments()} {files} /dev/null 2>/dev/null | sort -u"
        said = place.shell.run(script).output.splitlines()
        kept = tuple(line for line in self.__lines if not any(line in item for item in said))
        return Answers(kept, self.paths, len(self.__lines) - len(kept))

    def known_at_base(self) -> bool:
        """Whether base itself holds most of the answer: then it is not what attempts should have started from."""
        return self.at_base >= 2 and self.at_base > len(self.__lines)


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
