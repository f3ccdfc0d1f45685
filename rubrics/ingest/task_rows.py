"""Task rows that come twice: equal ones are one, of others the first is kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rubrics.digests import digest128
from rubrics.records.census import CensusLine
from rubrics.records.tasks import Sealed, SealedTask, Task


class TaskRows:
    """The tasks passed on so far."""

    def __init__(self) -> None:
        self._digests: dict[tuple[str, bool], str] = {}

    def __contains__(self, task_id: str) -> bool:
        return (task_id, False) in self._digests

    def __iter__(self) -> Iterator[str]:
        return (task_id for task_id, sealed in self._digests if not sealed)

    def take(self, row: Task | SealedTask) -> Iterator[Task | SealedTask | CensusLine]:
        """The row if it is the first of its task, else a census line."""
        sealed = isinstance(row, SealedTask)
        digest = _sealed_digest(row) if isinstance(row, SealedTask) else digest128([repr(replace(row, source=""))])
        known = self._digests.setdefault((row.task_id, sealed), digest)
        if known is digest:
            yield row
        elif known != digest:
            part = "sealed part" if sealed else "row"
            detail = f"another {part} of the task differs; the first one is kept. Give one of them"
            yield CensusLine("ingest", "task", "task_conflict", row.task_id, detail)
        elif not sealed:
            yield CensusLine("ingest", "task", "repeated", row.task_id, "the same row was given before; counted once")


def _sealed_digest(row: SealedTask) -> str:
    parts: tuple[Sealed | None, ...] = (row.test_patch, row.reference_patch, row.hints)
    return digest128([None if part is None else part.open_for("store") for part in parts])
