"""Patches from text. The parser of hunks is unidiff; `diff_text` gives it clean text."""

from __future__ import annotations

from unidiff import PatchSet, UnidiffParseError

from rubrics.digests import digest128
from rubrics.facts.diff_paths import NOWHERE, strip_prefixes
from rubrics.facts.diff_text import RawFile, Scanner, names, split_lines
from rubrics.records.patches import FileChange, Hunk, Line, Patch

_MARKS = {"added": "+", "removed": "-", "kept": " "}


def parse_patch(text: str) -> Patch:
    """The patch that the text holds. Never raises on text; what was not clean is named in `malformed`.

    Names: `leading_newline`, `crlf`, `fenced`, `trailing_context` (nothing is lost), and `prose`, `hunk_count`,
    `hunk_header`, `no_header`, `no_path`, `combined`, `unparsed`, `no_diff`. The empty patch is clean.
    """
    notes: set[str] = set()
    lines = split_lines(text, notes)
    if not lines:
        return Patch((), ())
    scanner = Scanner(lines, notes)
    scanner.scan()
    files = _files(scanner.files, notes)
    if not files:
        return Patch((), ("no_diff",))
    return Patch(tuple(sorted(files, key=_order)), tuple(sorted(notes)))


def normal_form(patch: Patch) -> str:
    """Canonical text: equal for patches that differ in line numbers, file order, line ends or `index` lines only."""
    return "".join(sorted(_file_form(file) for file in patch.files))


def normal_digest(patch: Patch) -> str:
    """128-bit digest of the normal form."""
    return digest128([normal_form(patch)])


def _files(raw_files: list[RawFile], notes: set[str]) -> list[FileChange]:
    parsed = iter(_parse_hunks([raw for raw in raw_files if raw.hunks], notes))
    files = []
    for raw in raw_files:
        hunks = next(parsed) if raw.hunks else ()
        file = _file(raw, hunks)
        if file.path:
            files.append(file)
        else:
            notes.add("no_path")
    return files


def _parse_hunks(raw_files: list[RawFile], notes: set[str]) -> list[tuple[Hunk, ...]]:
    lines = []
    for raw in raw_files:
        lines += ["--- a/file\n", "+++ b/file\n"]
        lines += [line + "\n" for hunk in raw.hunks for line in hunk]
    try:
        parsed = PatchSet(lines)
    except UnidiffParseError:
        notes.add("unparsed")
        return [()] * len(raw_files)
    return [tuple(_hunk(hunk) for hunk in file) for file in parsed]


def _hunk(hunk: object) -> Hunk:
    lines = []
    for line in hunk:  # type: ignore[attr-defined]
        mark, text = line.line_type, line.value[:-1]
        if mark == "+":
            lines.append(Line("added", text, line.target_line_no))
        elif mark == "-":
            lines.append(Line("removed", text, line.source_line_no))
        else:
            lines.append(Line("kept", text, line.target_line_no))
    return Hunk(hunk.section_header.strip(), tuple(lines))  # type: ignore[attr-defined]


def _file(raw: RawFile, hunks: tuple[Hunk, ...]) -> FileChange:
    old, new = strip_prefixes(*names(raw))
    if not raw.git and len(raw.hunks) == 1:  # plain diffs name both sides alike and say it by the hunk only
        raw.created |= raw.hunks[0][0].startswith("@@ -0,0 ")
        raw.deleted |= " +0,0 @@" in raw.hunks[0][0][:60]
    if raw.deleted or new == NOWHERE:
        return FileChange(old if old != NOWHERE else new, "deleted", None, raw.binary, hunks)
    if raw.created or old == NOWHERE:
        return FileChange(new, "added", None, raw.binary, hunks)
    if raw.renamed or (raw.git and old != new):
        return FileChange(new, "renamed", old, raw.binary, hunks)
    return FileChange(new, "modified", None, raw.binary, hunks)


def _order(file: FileChange) -> tuple[str, str, str]:
    return file.path, file.change, file.old_path or ""


def _file_form(file: FileChange) -> str:
    head = f"{file.change} {file.old_path or ''} {file.path}{' binary' if file.binary else ''}\n"
    return head + "".join(_hunk_form(hunk) for hunk in file.hunks)


def _hunk_form(hunk: Hunk) -> str:
    lines = list(hunk.lines)
    while lines and lines[-1].kind == "kept" and not lines[-1].text.strip():
        lines.pop()  # blank context at a text's end is lost with the blank lines after it
    body = "".join(f"{_MARKS[line.kind]}{line.text}\n" for line in lines)
    return f"@@ {' '.join(hunk.section.split())}\n{body}"
