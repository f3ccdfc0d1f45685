"""Joining what readers found: merging, ids, duplicates, groups, and whose outcome is whose.

Attempts with a transcript are passed on at once. Held to the end are predictions, since a prediction of an attempt that
has a file of its own is that attempt, and outcomes, since they may be read before the attempt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from rubrics.errors import UsageError
from rubrics.ingest.exit_status import classify_exit, is_known
from rubrics.ingest.gaps import Gaps
from rubrics.ingest.groups import Groups
from rubrics.ingest.identity import Again, Identities, Identity, Known
from rubrics.ingest.items import Attempt, ExitNote, Item, Note, Recorded
from rubrics.ingest.lost import plain
from rubrics.ingest.matching import Matcher, measured_outcome
from rubrics.ingest.merging import Merged, Merging
from rubrics.ingest.predictions import HARNESS as PREDICTIONS
from rubrics.ingest.task_rows import TaskRows
from rubrics.ingest.turns import assistant_turns
from rubrics.records import transcripts
from rubrics.records.census import CensusLine
from rubrics.records.outcomes import Outcome
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import SealedTask, Task

Ingested: TypeAlias = Task | SealedTask | Rollout | Outcome | CensusLine

GROUP_BY = ("task", "task,policy")
"""What tells groups apart: the task with the dump's own group or policy step; that and the policy."""


def join(
    items: Iterable[Item], group_by: str = "task", wanted: Callable[[str], bool] = lambda task_id: True
) -> Iterator[Ingested | Note]:
    """The records of the items that are of `wanted` tasks, and notes to be added up."""
    if group_by not in GROUP_BY:
        raise UsageError(f"group-by {group_by!r}: give one of {', '.join(repr(word) for word in GROUP_BY)}")
    state = _Join(group_by, wanted)
    for item in items:
        yield from state.take(item)
    yield from state.finish()


class _Join:
    def __init__(self, group_by: str, wanted: Callable[[str], bool]) -> None:
        self._wanted = wanted
        self._tasks = TaskRows()
        self._identities = Identities()
        self._matcher = Matcher()
        self._gaps = Gaps()
        self._groups = Groups(group_by)
        self._held: list[Attempt] = []
        self._rollouts: Counter[str] = Counter()

    def take(self, item: Item) -> Iterator[Ingested | Note]:
        """What can be passed on when the item has been read."""
        if isinstance(item, Note):
            yield item
        elif isinstance(item, Attempt):
            if item.turns is None or self._groups.must_wait(item):
                self._held.append(item)
                self._gaps.hold(item)
            else:
                yield from self._emit(self._gaps.filled(item))
        elif isinstance(item, ExitNote):
            self._gaps.note(item)
        elif self._wanted(item.task_id):
            if isinstance(item, Recorded):
                self._matcher.record(item)
            else:
                yield from self._tasks.take(item)

    def finish(self) -> Iterator[Ingested | Note]:
        """Everything that had to wait for the last item."""
        predictions = [item for item in self._held if item.harness == PREDICTIONS and item.turns is None]
        others = [item for item in self._held if item.harness != PREDICTIONS or item.turns is not None]
        for attempt in sorted(others, key=lambda item: item.step_unread):
            yield from self._emit(self._gaps.filled(attempt))
        merging = Merging(self._matcher, predictions)
        for attempt in predictions:
            if attempt.own_file:
                yield from self._merged_or_new(attempt, merging.same(attempt))
        rows = [item for item in predictions if not item.own_file]
        yield from self._rows(rows, merging)
        yield from self._matcher.outcomes()
        yield from self._gaps.unused(self._matcher.has)
        yield from self._closing_lines()

    def _rows(self, rows: list[Attempt], merging: Merging) -> Iterator[Ingested | Note]:
        """Predictions of whole runs: those that an attempt of its own file is, then those that are left."""
        found: dict[int, Merged] = {}
        left: dict[tuple[object, ...], list[int]] = {}
        for number, row in enumerate(rows):
            if (merged := merging.same(row)) is not None:
                found[number] = merged
            else:
                file = row.source.file
                key = (file.dump, file.relative, row.task_id, row.run, row.policy)
                left.setdefault(key, []).append(number)
        for numbers in left.values():
            pairs = merging.left([rows[number] for number in numbers])
            found.update(zip(numbers, pairs or (), strict=False))
        for number, row in enumerate(rows):
            yield from self._merged_or_new(row, found.get(number))

    def _merged_or_new(self, prediction: Attempt, merged: Merged | None) -> Iterator[Ingested | Note]:
        if merged is None:
            yield from self._emit(self._gaps.filled(prediction))
            return
        self._matcher.again(merged.known.rollout_id, prediction.run.folder, prediction.given_id)
        if self._wanted(prediction.task_id):
            yield merged.note
            yield from self._measured(prediction, merged.known)

    def _emit(self, attempt: Attempt) -> Iterator[Ingested | Note]:
        """The rollout, its exit outcome, and what is to be counted about it.

        One of a task that was not asked for is known all the same: what is joined is joined by what the runs hold.
        """
        text = None if attempt.turns is None else transcripts.to_json(attempt.turns)
        identity = self._identities.of(attempt, text)
        if isinstance(identity, Again):
            self._matcher.again(identity.rollout_id, attempt.run.folder, attempt.given_id)
            if self._wanted(attempt.task_id):
                detail = "the same attempt was given before; counted once"
                yield attempt.source.note("repeated", detail, subject="rollout")
            return
        known = Known.of(attempt, identity.rollout_id, identity.attempt)
        self._matcher.know(known)
        if not self._wanted(attempt.task_id):
            yield attempt.source.note("filtered", "left out by --tasks or --limit", subject="rollout")
            return
        self._rollouts[attempt.task_id] += 1
        yield _rollout(attempt, identity, self._groups.of(attempt), text)
        if identity.duplicate_of is not None:
            detail = "the same patch and transcript as another rollout of the task"
            yield CensusLine("ingest", "rollout", "duplicate", attempt.task_id, detail)
        yield from self._exit(attempt, known)
        yield from self._measured(attempt, known)

    def _exit(self, attempt: Attempt, known: Known) -> Iterator[Outcome | Note]:
        ended = classify_exit(attempt.exit_status)
        if ended is not None:
            outcome = Outcome(known.rollout_id, "exit", ended, detail=attempt.exit_status)
            known.outcomes.append(outcome)
            yield outcome
        elif not is_known(attempt.exit_status):
            status = (attempt.exit_status or "")[:80]
            detail = f"exit status {status!r} is no known word; it says nothing of the outcome"
            yield attempt.source.note("exit_status_unknown", detail, subject="rollout", topic=status)

    def _measured(self, attempt: Attempt, known: Known) -> Iterator[Outcome]:
        if attempt.measured is not None and (outcome := measured_outcome(known, attempt.measured)) is not None:
            yield outcome

    def _closing_lines(self) -> Iterator[CensusLine]:
        named = {plain(task_id): task_id for task_id in self._tasks}
        for task_id, number in self._rollouts.items():
            if task_id not in self._tasks:
                detail = "no task row; its rollouts are kept. Give the task's row to have them scored"
                if (alike := named.get(plain(task_id))) is not None:
                    detail = f"no task row, but {alike!r} has one: ids are compared exactly. Correct one of the two"
                yield CensusLine("ingest", "task", "no_task", task_id, detail, number)
        yield from self._groups.mixed()


def _rollout(attempt: Attempt, identity: Identity, group_id: str, text: str | None) -> Rollout:
    turns = attempt.turns
    return Rollout(
        rollout_id=identity.rollout_id, content_digest=identity.content_digest,
        transcript_digest=None if text is None else transcripts.digest(text), task_id=attempt.task_id,
        group_id=group_id, policy=attempt.policy, policy_step=attempt.policy_step, run=attempt.run.name,
        attempt=identity.attempt, harness=attempt.harness, patch=attempt.patch, turns=turns,
        exit_status=attempt.exit_status, n_turns=None if turns is None else assistant_turns(turns),
        input_tokens=attempt.input_tokens, output_tokens=attempt.output_tokens, snapshot=attempt.snapshot,
        duplicate_of=identity.duplicate_of, source=attempt.source.place, extra=attempt.extra,
        source_id=attempt.given_id, source_group=attempt.group_id,
    )  # fmt: skip
