"""One file of a patch as the measurements read it: its changed lines split into code, comments and docstrings.

Every line is read up to its first 2,000 characters. Lexing is by line: strings that run over several lines are known
for Python's triple quotes only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rubrics.facts.lexing import definitions
from rubrics.facts.paths import Kind, has_hash_comments, is_python, kind_of
from rubrics.records.patches import FileChange, Hunk, Line, Patch

WIDTH = 2_000

_HASH_MARKS = ("#",)
_SLASH_MARKS = ("//", "/*", "* ", "*/")

_BLANK_HASH = re.compile(r"""#[^\n]*+|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?""")
_BLANK_SLASH = re.compile(r"""//[^\n]*+|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|`[^`\n]*+`?""")


@dataclass(frozen=True, slots=True)
class FileView:
    change: FileChange
    kind: Kind
    python: bool
    hash_comments: bool
    added_lines: int
    removed_lines: int
    added: tuple[str, ...]
    """Added lines that hold code, as written: no blank lines, comments or docstrings. Source and tests only."""
    removed: tuple[str, ...]
    comments: tuple[str, ...]
    """Added lines that are a comment alone, stripped."""
    docstring_lines: int
    """Added lines that stand inside a triple-quoted string."""
    strings: tuple[frozenset[int], ...]
    """For each hunk, the indexes of its lines inside such strings; Python source and tests only."""
    text_added: str
    """`added` joined by newlines."""
    text_removed: str
    code_added: str
    """`text_added` with comments and the insides of strings emptied."""
    code_removed: str
    defined: tuple[tuple[str, str, str], ...]
    """Keyword, name and the rest of the line of each function and class that an added line begins."""
    undefined: tuple[tuple[str, str, str], ...]
    """The same of removed lines."""


def views(patch: Patch) -> tuple[FileView, ...]:
    """A view of every file of the patch, in its order."""
    return tuple(_view(file) for file in patch.files)


def of_kind(all_views: tuple[FileView, ...], *kinds: Kind) -> tuple[FileView, ...]:
    return tuple(view for view in all_views if view.kind in kinds)


def _view(file: FileChange) -> FileView:
    kind = kind_of(file.path, file.change == "added")
    hashes = has_hash_comments(file.path)
    python = is_python(file.path)
    added: list[str] = []
    removed: list[str] = []
    comments: list[str] = []
    counts = [0, 0, 0]
    strings: list[frozenset[int]] = []
    for hunk in file.hunks:
        if kind in ("source", "test"):
            strings.append(_docstring_lines(hunk.lines) if python else frozenset())
            _read(hunk, strings[-1], _HASH_MARKS if hashes else _SLASH_MARKS, added, removed, comments, counts)
        else:
            counts[0] += sum(line.kind == "added" for line in hunk.lines)
            counts[1] += sum(line.kind == "removed" for line in hunk.lines)
    blank = _BLANK_HASH if hashes else _BLANK_SLASH
    text_added, text_removed = "\n".join(added), "\n".join(removed)
    code_added, code_removed = blank.sub('""', text_added), blank.sub('""', text_removed)
    return FileView(
        file, kind, python, hashes, counts[0], counts[1], tuple(added), tuple(removed), tuple(comments), counts[2],
        tuple(strings), text_added, text_removed, code_added, code_removed, definitions(code_added),
        definitions(code_removed),
    )  # fmt: skip


def _read(
    hunk: Hunk,
    inside: frozenset[int],
    marks: tuple[str, ...],
    added: list[str],
    removed: list[str],
    comments: list[str],
    counts: list[int],
) -> None:
    for index, line in enumerate(hunk.lines):
        if line.kind == "kept":
            continue
        is_added = line.kind == "added"
        counts[0 if is_added else 1] += 1
        text = line.text[:WIDTH]
        stripped = text.strip()
        if not stripped:
            continue
        if index in inside:
            counts[2] += is_added
        elif stripped.startswith(marks):
            if is_added:
                comments.append(stripped)
        elif is_added:
            added.append(text.replace("\n", " "))
        else:
            removed.append(text.replace("\n", " "))


def _docstring_lines(lines: tuple[Line, ...]) -> frozenset[int]:
    """Indexes of the lines inside triple-quoted strings that stand alone (docstrings, mostly), ends included."""
    if not any('"""' in line.text or "'''" in line.text for line in lines):
        return frozenset()
    found: set[int] = set()
    for image in ("removed", "added"):
        found |= _inside(lines, image)
    return frozenset(found)


def _inside(lines: tuple[Line, ...], image: str) -> set[int]:
    members = [
        (index, line.text[:WIDTH])
        for index, line in enumerate(lines)
        if line.kind in ("kept", image)
    ]  # fmt: skip
    marked = [(place, text.count('"""') + text.count("'''")) for place, (_, text) in enumerate(members)]
    marked = [(place, count) for place, count in marked if count]
    if not marked:
        return set()
    found: set[int] = set()
    odd = [place for place, count in marked if count % 2]
    opening = not odd or not _closes(members, odd[0])
    spans = [
        (odd[i], odd[i + 1] if i + 1 < len(odd) else len(members) - 1) for i in range(0 if opening else 1, len(odd), 2)
    ]
    if not opening:
        spans.append((0, odd[0]))
    for start, end in spans:
        own_line = start == 0 or members[start][1].lstrip("rRbBuU \t").startswith(('"""', "'''"))
        first = start if own_line else start + 1
        found.update(members[place][0] for place in range(first, end + 1))
    for place, count in marked:
        text = members[place][1].strip().lstrip("rRuU")
        if count == 2 and text.startswith(('"""', "'''")) and text.endswith(('"""', "'''")):
            found.add(members[place][0])
    return found


def _closes(members: list[tuple[int, str]], place: int) -> bool:
    """Whether the first lone triple quote of a hunk ends a string that began above the hunk."""
    text = members[place][1].strip()
    if text in ('"""', "'''"):
        before = [line for _, line in members[max(0, place - 3) : place] if line.strip()]
        return bool(before) and not before[-1].rstrip().endswith((":", "(", "=", ","))
    return text.endswith(('"""', "'''")) and "=" not in text
