"""The account of an ingest: what of the input was recognised, what a person should be told, and whether it was a
success.

Pure: it reads rows of the census. A thing (a file, a row) was either taken for something (`read_as`), or one of
`UNREAD` says why not; what has no content or is sealed is neither.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

READ_AS = "read_as"
"""Kind of the notes that say what a file or a row was taken for."""
UNREAD = frozenset(
    {
        "not_recognised", "not_json", "not_csv", "not_yaml", "truncated", "nesting", "size", "shape", "unreadable",
        "unsafe_yaml", "id_differs",
    }
)  # fmt: skip
"""Kinds that say that a file or a row was not used."""
_HALF_READ = ("transcript_not_read", "column_misspelt")
_LOST_OUTCOMES = ("outcome_without_rollout", "outcome_ambiguous", "outcome_of_another_patch")
MOST = 0.5
"""Share of the files or of the rows above which most of the input was not recognised."""


@dataclass(frozen=True, slots=True)
class Account:
    lines: tuple[str, ...]
    """What to say on the terminal, loudest first."""
    failed: bool
    """Whether most of the input was not recognised."""


def account_of(census: Sequence[Mapping[str, Any]], rollouts: int) -> Account:
    """The account by the census rows of stage ingest (`subject`, `kind`, `place`, `detail`, `count`) and by the number
    of rollouts that were read."""
    rows = [row for row in census if row["stage"] == "ingest"]
    unread = _mostly_unread(rows)
    things = [row for row in rows if row["subject"] in ("file", "row")]
    missed = [row for row in things if row["kind"] in UNREAD]
    if unread is None and not rollouts and not any(row["kind"] == "filtered" for row in rows):
        if missed:
            unread = f"no rollout was read: {_example(missed)}"
        elif not any(row["kind"] == READ_AS for row in things):
            unread = "nothing was read: the dumps hold no file of a form that is read (docs/formats.md)"
    lines, failed = [] if unread is None else [unread], unread is not None
    read = _sum(rows, "row", {READ_AS})
    for kind in _HALF_READ:
        half = sorted((row for row in rows if row["kind"] == kind), key=lambda row: -int(row["count"]))
        failed = failed or any(row["count"] > read * MOST for row in half)
        lines += [f"{row['count']} rows: {row['detail']} ({row['place']})" for row in half]
    for kind in _LOST_OUTCOMES:
        lines += [f"{row['count']} outcomes: {row['detail']} ({row['place']})" for row in rows if row["kind"] == kind]
    return Account(tuple(lines), failed)


def _mostly_unread(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """What to say when most of the files or of the rows was not recognised: of the two, that which is more of."""
    found = []
    for subject in ("file", "row"):
        missed = _sum(rows, subject, UNREAD)
        seen = missed + _sum(rows, subject, {READ_AS})
        if missed > seen * MOST:
            example = _example([row for row in rows if row["subject"] == subject and row["kind"] in UNREAD])
            found.append(
                (missed, f"{missed} of {seen} {subject}s ({missed / seen:.0%}) were not recognised: {example}")
            )
    return max(found)[1] if found else None


def _sum(rows: Sequence[Mapping[str, Any]], subject: str, kinds: Collection[str]) -> int:
    return sum(row["count"] for row in rows if row["subject"] == subject and row["kind"] in kinds)


def _example(rows: Sequence[Mapping[str, Any]]) -> str:
    """The line that counts most."""
    most = max(rows, key=lambda row: int(row["count"]))
    return f"{most['detail']} (in {most['place']})"
