"""A patch as a prompt shows it: whole, every line with the number that a pointer `patch:<path>:<line>` names. Pure.

`12+text` is an added line, `12 text` a kept one (numbers of the new file), `12-text` a removed one (number of the old
file). Files stand in the order of their paths. Lines of content begin with a number: none passes for a mark.
"""

from __future__ import annotations

from collections.abc import Iterator

from rubrics.facts.diff_text import AS_WRITTEN, written_lines
from rubrics.facts.diffs import parse_patch
from rubrics.prompting.fences import Shown, shown_name
from rubrics.records.patches import FileChange, Hunk
from rubrics.visible import defused

_SIGNS = {"added": "+", "removed": "-", "kept": " "}
_LOSSY = frozenset({"combined", "no_diff", "no_header", "no_path", "prose"})
"""What `parse_patch` notes where some text of the patch is in none of its files."""


def patch_view(text: str) -> Shown:
    """The whole patch. Where some of its text is no clean diff, all of it follows as written: `12| text`,
    pointers `patch:as written:12`."""
    if not text.strip():
        return Shown("[[note: the attempt changed nothing]]")
    patch = parse_patch(text)
    parts = [part for file in patch.files for part in _file(file)]
    if lost := sorted(_LOSSY.intersection(patch.malformed)):
        lines = [f"{number}| {line}" for number, line in enumerate(written_lines(text), 1)]
        parts.append(f"[[note: not a clean diff ({', '.join(lost)}); all {len(lines)} lines of it]]")
        parts.append(f"[[file {AS_WRITTEN}]]\n{defused(chr(10).join(lines))}")
    return Shown("\n".join(parts))


def _file(file: FileChange) -> Iterator[str]:
    yield f"[[file {file.change}{', binary' if file.binary else ''}: {shown_name(file.path)}]]"
    if file.old_path is not None:
        yield f"[[file before: {shown_name(file.old_path)}]]"
    if file.hunks:
        yield defused("\n".join(line for hunk in file.hunks for line in _hunk(hunk)))


def _hunk(hunk: Hunk) -> Iterator[str]:
    yield f"@@ {hunk.section}" if hunk.section else "@@"
    for line in hunk.lines:
        yield f"{line.number}{_SIGNS[line.kind]}{line.text}"
