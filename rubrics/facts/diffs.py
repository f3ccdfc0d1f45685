"""Patches from text. The parser of hunks is unidiff; `diff_text` gives it clean text."""

from __future__ import annotations

from unidiff import PatchSet, UnidiffParseError

from rubrics.facts.diff_paths import NOWHERE, strip_prefixes
from rubrics.facts.diff_text import RawFile, Scanner, names, split_lines
from rubrics.facts.normal import normal_digest, normal_form
from rubrics.records.patches import FileChange, Hunk, Line, Patch

__all__ = ["normal_digest", "normal_form", "parse_patch"]


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
