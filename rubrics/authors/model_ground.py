"""What a model's criteria may rest on, gathered from the task, the studied attempts and the repository at base."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from rubrics.authors.author import Brief, StudiedAttempt
from rubrics.authors.lint_ground import collapsed
from rubrics.authors.lint_records import Ground, Studied
from rubrics.authors.model_base import Base
from rubrics.facts.diffs import parse_patch
from rubrics.records.patches import Patch
from rubrics.records.rubrics import Kind

SEEN_BY = 2
"""Attempts whose tools must have shown a name before it counts as one of the repository, where that cannot be read."""


def labels_of(studied: Sequence[StudiedAttempt]) -> tuple[str, ...]:
    """The neutral names of the studied attempts, in their order."""
    return tuple(f"attempt-{number}" for number in range(1, len(studied) + 1))


def ground(
    brief: Brief,
    studied: Sequence[StudiedAttempt],
    base: Base,
    entered: bool,
    copies_sealed: Callable[[str], bool],
    check_rule: Callable[[str, Kind, str], frozenset[str]],
) -> Ground:
    """`entered`: the repository can be read, so that a name that it lacks is none of its names."""
    patches = [parse_patch(item.rollout.patch or "") if item.rollout else Patch((), ()) for item in studied]
    around = "\n".join(text for patch in patches for text in _texts(patch, ("kept", "removed")))
    seen = () if entered else tuple(_observed(item) for item in studied)
    task = brief.task

    def name_stands(name: str) -> bool:
        if _holds(around, name) or base.name(name):
            return True
        return sum(_holds(text, name) for text in seen) >= SEEN_BY

    def line_stands(path: str, number: int, quote: str) -> bool:
        return any(_has_line(patch, path, number, quote) for patch in patches) or base.line(path, number, quote)

    return Ground(
        spec=brief.spec,
        studied=tuple(
            Studied(label, "\n".join([*(file.path for file in patch.files), *_texts(patch, ("added",))]))
            for label, patch in zip(labels_of(studied), patches, strict=True)
        ),
        tests=frozenset((*task.fail_to_pass, *task.pass_to_pass)) if task else frozenset(),
        line_stands=line_stands,
        name_stands=name_stands,
        copies_sealed=copies_sealed,
        check_rule=check_rule,
    )


def _texts(patch: Patch, kinds: tuple[str, ...]) -> Iterator[str]:
    return (line.text for file in patch.files for hunk in file.hunks for line in hunk.lines if line.kind in kinds)


def _has_line(patch: Patch, path: str, number: int, quote: str) -> bool:
    wanted = collapsed(quote.strip().partition("\n")[0])
    return any(
        line.number == number and line.kind != "removed" and wanted in collapsed(line.text)
        for file in patch.files
        if file.path == path
        for hunk in file.hunks
        for line in hunk.lines
    )


def _observed(attempt: StudiedAttempt) -> str:
    """What tools showed to the attempt."""
    turns = attempt.rollout.turns if attempt.rollout else None
    return "\n".join(turn.observation or "" for turn in turns or ())


def _holds(text: str, name: str) -> bool:
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
