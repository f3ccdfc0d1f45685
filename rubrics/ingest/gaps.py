"""Filling gaps of attempts: exit statuses from a run's own list, policies and patches from its predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from rubrics.ingest.identity import patch_key
from rubrics.ingest.items import Attempt, ExitNote, Note, RunName
from rubrics.ingest.predictions import HARNESS as PREDICTIONS


@dataclass(slots=True)
class _Predicted:
    """What the predictions of one task and run say."""

    policies: dict[str, str] = field(default_factory=dict)
    """By the key of their patch."""
    first: Attempt | None = None
    rows: Counter[str] = field(default_factory=Counter)
    """Number of them by file."""

    @property
    def only(self) -> Attempt | None:
        """The attempt that they are of, if it is one only: of two files each may say it once."""
        return self.first if max(self.rows.values()) == 1 else None


class Gaps:
    """Remembers exit notes and predictions that were read before the attempts that lack something."""

    def __init__(self) -> None:
        self._exits: dict[tuple[str, str], dict[tuple[str, ...] | None, ExitNote]] = {}
        self._predicted: dict[tuple[str, RunName], _Predicted] = {}

    def note(self, note: ExitNote) -> None:
        """Remember an exit status; the latest one of a run counts."""
        self._exits.setdefault((note.task_id, note.run.name), {})[note.run.folder] = note

    def hold(self, attempt: Attempt) -> None:
        """Remember what a prediction says of the attempt that it repeats."""
        if attempt.harness != PREDICTIONS:
            return
        known = self._predicted.setdefault((attempt.task_id, attempt.run), _Predicted())
        if attempt.policy is not None:
            known.policies.setdefault(patch_key(attempt.patch), attempt.policy)
        known.first = known.first or attempt
        known.rows[attempt.source.file.relative] += 1

    def filled(self, attempt: Attempt) -> Attempt:
        """The attempt with its gaps filled. What the run says once of a task fills none of several attempts at it."""
        status, policy, patch = attempt.exit_status, attempt.policy, attempt.patch
        known = self._predicted.get((attempt.task_id, attempt.run)) if self._predicted else None
        only = None if known is None else known.only
        alone = attempt.own_file or (attempt.harness == PREDICTIONS and only is not None)
        if status is None and alone and (note := self._exit_of(attempt)) is not None:
            status = note.status
        if known is not None and attempt.harness != PREDICTIONS:
            if policy is None:
                policy = known.policies.get(patch_key(patch)) or (None if only is None else only.policy)
            if patch is None and attempt.written is None and attempt.own_file and only is not None:
                patch = only.patch
        if status is attempt.exit_status and policy is attempt.policy and patch is attempt.patch:
            return attempt
        return replace(attempt, exit_status=status, policy=policy, patch=patch)

    def unused(self, has: Callable[[str, str], bool]) -> Iterator[Note]:
        """A note for each run and file that gives exit statuses of tasks of which the run has no rollout."""
        missing: dict[tuple[str, str], list[ExitNote]] = {}
        for (task_id, run), notes in self._exits.items():
            for note in notes.values():
                if not has(task_id, run):
                    missing.setdefault((run, note.source.file.relative), []).append(note)
        for (run, _), notes_of_run in missing.items():
            ids = [note.task_id for note in notes_of_run]
            some = ", ".join(ids[:5]) + (", ..." if len(ids) > 5 else "")
            detail = f"run {run!r} has no rollout of {some}; correct the names if they are misspelt"
            source = notes_of_run[0].source
            yield source.note("exit_status_without_rollout", detail, subject="rollout", count=len(ids), topic=run)

    def _exit_of(self, attempt: Attempt) -> ExitNote | None:
        """The run's exit status of the task; of a run folder of the same name elsewhere it is not the attempt's."""
        notes = self._exits.get((attempt.task_id, attempt.run.name))
        if not notes:
            return None
        if attempt.run.folder in notes:
            return notes[attempt.run.folder]
        return next(iter(notes.values())) if len(notes) == 1 else None
