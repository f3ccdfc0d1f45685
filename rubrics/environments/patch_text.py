"""The text of a patch: what it names, and what its way here did to it that can be undone exactly.

Names are read as `git apply -p1` and `patch -p1` read them: from header lines, never from the lines of a hunk.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rubrics.errors import PatchRefused

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
_INDEX = re.compile(r"index ([0-9a-f]{7,64})\.\.[0-9a-f]{7,64}\b")
_WITHOUT_CONTENT = re.compile(r"Binary files .* differ$|(?:new|deleted) file mode 160000|index [0-9a-f.]+ 160000")
_TIME = re.compile(r"[ \t]\d{4}-\d\d-\d\d[ T]")
_NAMED = ("rename from ", "rename to ", "copy from ", "copy to ")
_ESCAPE = re.compile(rb'\\([0-7]{1,3}|[abfnrtv"\\])')
_ESCAPES = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}
_NOWHERE = "/dev/null"
_GIT_FOLDERS = frozenset({".git", "git~1"})
LOST_CONTEXT = 10
"""Blank lines of context at the end of a patch that stripping its text may have taken; git gives three."""


@dataclass(slots=True)
class Hunk:
    start: int
    """Line of the old file, from 1; 0 for a file that was not there."""
    old: int
    """Lines of the old file that are still to come, as the header counts them."""
    new: int
    lines: list[str] = field(default_factory=list)
    """With their marks."""

    def takes(self, line: str) -> bool:
        """Add the line, if it is one of the hunk's."""
        mark = line[:1]
        if mark != "\\":
            if (self.old <= 0 and self.new <= 0) or mark not in ("+", "-", " ", ""):
                return False
            self.old -= mark != "+"
            self.new -= mark != "-"
        self.lines.append(line)
        return True


@dataclass(slots=True)
class Section:
    """What a patch says of one file."""

    git: str = ""
    """What follows `diff --git `."""
    old: str = ""
    """The old path without its first folder; empty where there was none."""
    old_id: str = ""
    """Git's digest of the old content, or its beginning."""
    named: set[str] = field(default_factory=set)
    """Every path it names, without first folders."""
    sides: bool = False
    """Whether `--- ` has come."""
    hunks: list[Hunk] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    inside: bool = False
    """Whether its last line is one of a hunk."""
    stub: bool = False
    """Whether it stands for content that it does not give: of a binary file, or of a submodule."""


@dataclass(frozen=True, slots=True)
class PatchText:
    """A patch as it goes on."""

    text: str
    sections: tuple[Section, ...]
    left_out: int
    """Files and submodules whose content the patch does not hold; their sections are not part of the text."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every path, old and new. Raises `PatchRefused` for one that a patch may not name."""
        paths = sorted({name for section in self.sections for name in section.named if name})
        for path in paths:
            parts = path.split("/")
            if any(part.partition(":")[0].rstrip(" .").lower() in _GIT_FOLDERS for part in parts):
                raise PatchRefused("git_folder", f"the patch names {path!r:.200}, where git keeps what it runs")
            if ".." in parts or "\0" in path:
                raise PatchRefused("outside", f"the patch names {path!r:.200}, which is not below the working folder")
        return tuple(paths)


def read_patch(text: str) -> PatchText:
    """The patch with its own line ends, its last lines of context, and without files whose content it does not hold.

    Never raises on text.
    """
    found = _sections(_own_line_ends(text).removesuffix("\n").split("\n"))
    kept = [section for section in found if not section.stub]
    if kept and kept[-1].inside:
        last = kept[-1].hunks[-1]
        lost = last.old if last.old == last.new <= LOST_CONTEXT else 0
        kept[-1].lines += [" "] * lost
    joined = "\n".join(line for section in kept for line in section.lines)
    return PatchText(f"{joined}\n", tuple(kept), len(found) - len(kept))


def _own_line_ends(text: str) -> str:
    """Where every line of the diff's own ends in CR LF, the whole was written as a text of Windows."""
    if "\r" not in text:
        return text
    if "\n" not in text:
        return text.replace("\r", "\n")
    lines = text.split("\n")
    own = [line for line in lines if line.startswith(("diff --git ", "@@ -"))]
    if not own or not all(line.endswith("\r") for line in own):
        return text
    return "\n".join(line.removesuffix("\r") for line in lines)


def _sections(lines: list[str]) -> list[Section]:
    """The first section is what stands before any file."""
    found = [Section()]
    for line in lines:
        section = found[-1]
        section.inside = bool(section.hunks) and section.hunks[-1].takes(line)
        if not section.inside:
            if line.startswith("diff --git ") or (line.startswith("--- ") and section.sides):
                section = Section()
                found.append(section)
            _header_line(section, line)
        section.lines.append(line)
    for section in found:
        if section.git and not section.named:
            section.named.add(_halved(section.git))
    return found


def _header_line(section: Section, line: str) -> None:
    if line.startswith("diff --git "):
        section.git = line[11:]
    elif line.startswith("--- "):
        section.old, section.sides = _side(section, line[4:]), True
    elif line.startswith("+++ "):
        _side(section, line[4:])
    elif line.startswith(_NAMED):
        section.named.add(_tidy(_plain(line.split(" ", 2)[2])))
    elif match := _HUNK.match(line):
        section.hunks.append(Hunk(int(match[1]), int(match[2] or 1), int(match[3] or 1)))
    elif match := _INDEX.match(line):
        section.old_id = match[1]
    section.stub |= bool(section.git) and _WITHOUT_CONTENT.match(line) is not None


def _side(section: Section, text: str) -> str:
    """The path of one side, as what follows `--- ` or `+++ ` gives it."""
    text = text.split("\t", 1)[0]
    if not text.startswith('"') and (time := _TIME.search(text)):
        text = text[: time.start()].rstrip()
    name = _plain(text)
    if name == _NOWHERE:
        return ""
    section.named.add(_stripped(name))
    return _stripped(name)


def _halved(text: str) -> str:
    """The one path of `diff --git a/path b/path`: where it names two, other lines name them too."""
    text = text.strip()
    return _stripped(_plain(text[: len(text) // 2]))


def _stripped(name: str) -> str:
    """Without the first folder, as `-p1` has it; a name without any stays, and fits nowhere."""
    return _tidy(name.partition("/")[2]) if "/" in name else name


def _tidy(name: str) -> str:
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def _plain(text: str) -> str:
    """A name as git quotes it, in its plain form; bytes that are no UTF-8 become lone surrogates."""
    if len(text) < 2 or not (text.startswith('"') and text.endswith('"')):
        return text
    data = _ESCAPE.sub(_unescaped, text[1:-1].encode("utf-8", "surrogatepass"))
    return data.decode("utf-8", "surrogateescape")


def _unescaped(found: re.Match[bytes]) -> bytes:
    sign = found[1]
    return bytes([_ESCAPES[sign] if sign in _ESCAPES else int(sign, 8) & 255])
