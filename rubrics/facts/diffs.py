"""Patches from text: what `diff_text` has cleaned becomes files, hunks and numbered lines."""

from __future__ import annotations

from rubrics.facts.diff_paths import NOWHERE, strip_prefixes
from rubrics.facts.diff_text import HUNK, RawFile, Scanner, names, split_lines
from rubrics.facts.normal import normal_digest, normal_form
from rubrics.records.patches import FileChange, Hunk, Line, Patch

__all__ = ["normal_digest", "normal_form", "parse_patch"]


def parse_patch(text: str) -> Patch:
    """The patch that the text holds. Never raises on text; what was not clean is named in `malformed`.

    Names: `leading_newline`, `crlf`, `fenced`, `trailing_context` (nothing is lost), and `prose`, `hunk_count`,
    `hunk_header`, `no_header`, `no_path`, `combined`, `no_diff`. The empty patch is clean.
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
    files = [_file(raw, tuple(map(_hunk, raw.hunks))) for raw in raw_files]
    if not all(file.path for file in files):
        notes.add("no_path")
    return [file for file in files if file.path]


def _hunk(raw: list[str]) -> Hunk:
    """`raw`: a header with true counts, then lines that begin with a mark; see `RawFile.hunks`."""
    header = HUNK.match(raw[0])
    assert header is not None
    old, new = int(header[1]), int(header[3])
    lines = []
    for line in raw[1:]:
        mark = line[0]
        if mark == "-":
            lines.append(Line("removed", line[1:], old))
            old += 1
        else:
            lines.append(Line("added" if mark == "+" else "kept", line[1:], new))
            new += 1
            old += mark == " "
    return Hunk(header[5].strip(), tuple(lines))


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
