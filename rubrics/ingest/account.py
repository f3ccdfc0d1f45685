"""The account of an ingest: what of the input was recognised, what a person should be told, and whether it was a
success.

Pure: it reads rows of the census. A thing (a file, a row) was either taken for something (`read_as`), or one of
`UNREAD` says why not; what has no content or is sealed is neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    lines, failed = [], False
    nothing = (
        [row for row in rows if row["subject"] in ("file", "row") and row["kind"] in UNREAD] if not rollouts else []
    )
    if nothing:
        failed = True
        lines.append(f"no rollout was read: {_example(nothing)}")
    for subject, plural in (("file", "files"), ("row", "rows")):
        unread = [row for row in rows if row["subject"] == subject and row["kind"] in UNREAD]
        missed = sum(row["count"] for row in unread)
        seen = missed + sum(row["count"] for row in rows if row["subject"] == subject and row["kind"] == READ_AS)
        if missed > seen * MOST:
            failed = True
            lines.append(f"{missed} of {seen} {plural} ({missed / seen:.0%}) were not recognised: {_example(unread)}")
    seen = sum(row["count"] for row in rows if row["subject"] == "row" and row["kind"] == READ_AS)
    for kind in _HALF_READ:
        half = sorted((row for row in rows if row["kind"] == kind), key=lambda row: -int(row["count"]))
        if half:
            failed = failed or half[0]["count"] > seen * MOST
            lines += [f"{row['count']} rows: {row['detail']} ({row['place']})" for row in half]
    for kind in _LOST_OUTCOMES:
        lines += [f"{row['count']} outcomes: {row['detail']} ({row['place']})" for row in rows if row["kind"] == kind]
    return Account(tuple(lines), failed)


def _example(rows: Sequence[Mapping[str, Any]]) -> str:
    """The line that counts most."""
    most = max(rows, key=lambda row: int(row["count"]))
    return f"{most['place']}: {most['detail']}"
