"""The form of a patch in which equal changes are equal texts."""

from __future__ import annotations

from rubrics.digests import digest128
from rubrics.records.patches import FileChange, Hunk, Patch

_MARKS = {"added": "+", "removed": "-", "kept": " "}


def normal_form(patch: Patch) -> str:
    """Canonical text: equal for patches that differ in line numbers, file order, line ends or `index` lines only."""
    return "".join(sorted(_file_form(file) for file in patch.files))


def normal_digest(patch: Patch) -> str:
    """128-bit digest of the normal form."""
    return digest128([normal_form(patch)])


def _file_form(file: FileChange) -> str:
    head = f"{file.change} {file.old_path or ''} {file.path}{' binary' if file.binary else ''}\n"
    return head + "".join(_hunk_form(hunk) for hunk in file.hunks)


def _hunk_form(hunk: Hunk) -> str:
    lines = list(hunk.lines)
    while lines and lines[-1].kind == "kept" and not lines[-1].text.strip():
        lines.pop()  # blank context at a text's end is lost with the blank lines after it
    body = "".join(f"{_MARKS[line.kind]}{line.text}\n" for line in lines)
    return f"@@ {' '.join(hunk.section.split())}\n{body}"
