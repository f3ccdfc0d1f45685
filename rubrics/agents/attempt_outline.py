"""An attempt as the first message of a conversation shows it: whole where it is short, else in outline, with the way
to what is left out. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from rubrics.agents.attempt_tools import ShownAttempt
from rubrics.facts.diffs import parse_patch
from rubrics.prompting.fences import Shown, fence, shown_name
from rubrics.prompting.patches import patch_view
from rubrics.prompting.transcripts import outline
from rubrics.records.patches import FileChange
from rubrics.records.rollouts import Turn

PATCH = 12_000
"""Characters up to which a patch is shown whole."""
OUTLINE = 12_000
"""Characters of the outline of a transcript: a half from its start, a half from its end."""
FILES = 100
"""Files that the outline of a patch names."""


def sections(attempt: ShownAttempt) -> Iterator[str]:
    """Patch, transcript and tests, each as a fence with what is to be said about it."""
    yield "\n".join(_patch(attempt.patch))
    yield "\n".join(_transcript(attempt.turns or ()))
    if attempt.tests:
        yield f"Tests that were run: {_counts(attempt.tests)}; show_tests lists them."


def _patch(text: str | None) -> Iterator[str]:
    if text is None:
        yield "Its patch is not known."
        return
    view = patch_view(text)
    if len(view) <= PATCH:
        yield fence("patch", view)
        return
    files = parse_patch(text).files
    lines = [_stat(file) for file in files[:FILES]]
    if len(files) > FILES:
        lines.append(f"[[note: {len(files) - FILES} more files]]")
    yield fence("files of the patch", Shown("\n".join(lines) or "[[note: no clean diff]]"))
    yield f"The patch has {len(view)} characters as show_patch shows it; open it with that."


def _stat(file: FileChange) -> str:
    counts = Counter(line.kind for hunk in file.hunks for line in hunk.lines)
    return f"{file.change} +{counts['added']} -{counts['removed']} {shown_name(file.path)}"


def _transcript(turns: Sequence[Turn]) -> Iterator[str]:
    if not turns:
        yield "There is no transcript."
        return
    lines = outline(turns).split("\n")
    kept = _ends([len(line) + 1 for line in lines])
    if kept is None:
        yield fence("outline of the transcript", Shown("\n".join(lines)))
    else:
        first, last = kept
        yield fence("outline of the first turns", Shown("\n".join(lines[:first])))
        skipped = sum(len(line) + 1 for line in lines[:first])
        yield f"Turns {first} to {last - 1} left out; show_transcript without turns shows them from offset {skipped}."
        yield fence("outline of the last turns", Shown("\n".join(lines[last:])))
    yield "show_transcript opens turns, search_transcript finds lines."


def _ends(sizes: Sequence[int]) -> tuple[int, int] | None:
    """How many lines from the start, and from which on, fit; null when all do."""
    if sum(sizes) <= OUTLINE:
        return None
    first = last = used = 0
    while used + sizes[first] <= OUTLINE // 2:
        used, first = used + sizes[first], first + 1
    used, last = 0, len(sizes)
    while used + sizes[last - 1] <= OUTLINE // 2:
        used, last = used + sizes[last - 1], last - 1
    return first, last


def _counts(tests: str) -> str:
    """How many tests have which status."""
    words = (line.split(" ", 1)[0] for line in tests.split("\n") if line)
    counts = Counter(word if re.fullmatch("[A-Za-z_]{1,20}", word) else "other" for word in words)
    return ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
