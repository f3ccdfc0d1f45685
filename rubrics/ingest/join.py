"""Joining what readers found: merging, ids, duplicates, groups, and whose outcome is whose.

Attempts with a transcript are passed on at once. Held to the end are predictions, since a prediction with the task, run
and patch of an attempt that has a transcript is that attempt, and outcomes, since they may be read before the attempt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from rubrics.errors import UsageError
from rubrics.ingest.exit_status import classify_exit, is_known
from rubrics.ingest.identity import Identities, Known, group_of, patch_key
from rubrics.ingest.items import Attempt, ExitNote, Item, Recorded, Source
from rubrics.ingest.matching import Matcher
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


def join(items: Iterable[Item], group_by: str = "task") -> Iterator[Ingested]:
    """The records of the items. Census lines may repeat; equal ones are to be added up."""
    if group_by not in GROUP_BY:
        raise UsageError(f"group-by {group_by!r}: give one of {', '.join(repr(word) for word in GROUP_BY)}")
    state = _Join(group_by)
    for item in items:
        yield from state.take(item)
    yield from state.finish()


class _Join:
    def __init__(self, group_by: str) -> None:
        self._group_by = group_by
        self._tasks = TaskRows()
        self._identities = Identities()
        self._matcher = Matcher()
        self._exits: dict[tuple[str, str], ExitNote] = {}
        self._held: list[Attempt] = []
        self._policies: dict[tuple[str, str, str], str] = {}
        self._groups: dict[str, set[str | None]] = {}
        self._rollouts: Counter[str] = Counter()

    def take(self, item: Item) -> Iterator[Ingested]:
        """What can be passed on when the item has been read."""
        if isinstance(item, Attempt):
            if item.turns is not None:
                yield from self._emit(self._filled(item))
            else:
                self._hold(item)
        elif isinstance(item, Recorded):
            self._matcher.record(item)
        elif isinstance(item, ExitNote):
            self._exits[item.task_id, item.run] = item
        elif isinstance(item, (Task, SealedTask)):
            yield from self._tasks.take(item)
        else:
            yield item

    def finish(self) -> Iterator[Ingested]:
        """Everything that had to wait for the last item."""
        for attempt in self._held:
            known = self._matcher.same_attempt(attempt) if attempt.harness == PREDICTIONS else None
            if known is None:
                yield from self._emit(self._filled(attempt))
                continue
            if attempt.policy is not None:
                known.spellings.add(attempt.policy)
            detail = "a prediction with the task, run and patch of an attempt that has a transcript"
            yield attempt.source.note("merged", detail, subject="rollout")
        yield from self._matcher.outcomes()
        yield from self._closing_lines()

    def _hold(self, attempt: Attempt) -> None:
        self._held.append(attempt)
        if attempt.policy is not None and attempt.harness == PREDICTIONS:
            key = (attempt.task_id, attempt.run, patch_key(attempt.patch))
            self._policies.setdefault(key, attempt.policy)

    def _filled(self, attempt: Attempt) -> Attempt:
        """The attempt with its gaps filled from the run's exit notes and from its own prediction."""
        status, policy = attempt.exit_status, attempt.policy
        if status is None and (note := self._exits.get((attempt.task_id, attempt.run))):
            status = note.status
        if policy is None and self._policies:
            policy = self._policies.get((attempt.task_id, attempt.run, patch_key(attempt.patch)))
        if status is attempt.exit_status and policy is attempt.policy:
            return attempt
        return replace(attempt, exit_status=status, policy=policy)

    def _emit(self, attempt: Attempt) -> Iterator[Ingested]:
        """The rollout, its exit outcome, and what is to be counted about it."""
        turns = attempt.turns
        text = None if turns is None else transcripts.to_json(turns)
        identity = self._identities.of(attempt, text)
        if identity is None:
            yield attempt.source.note("repeated", "the same attempt was given before; counted once", subject="rollout")
            return
        group_id = attempt.group_id or group_of(attempt, self._group_by)
        self._groups.setdefault(group_id, set()).add(attempt.policy)
        self._rollouts[attempt.task_id] += 1
        yield Rollout(
            rollout_id=identity.rollout_id, content_digest=identity.content_digest,
            transcript_digest=None if text is None else transcripts.digest(text), task_id=attempt.task_id,
            group_id=group_id, policy=attempt.policy, policy_step=attempt.policy_step, run=attempt.run,
            attempt=identity.attempt, harness=attempt.harness, patch=attempt.patch, turns=turns,
            exit_status=attempt.exit_status, n_turns=None if turns is None else assistant_turns(turns),
            input_tokens=attempt.input_tokens, output_tokens=attempt.output_tokens, snapshot=attempt.snapshot,
            duplicate_of=identity.duplicate_of, source=attempt.source.place,
        )  # fmt: skip
        if identity.duplicate_of is not None:
            detail = "the same patch and transcript as another rollout of the task"
            yield CensusLine("ingest", "rollout", "duplicate", attempt.task_id, detail)
        yield from self._exit(attempt, identity.rollout_id, identity.attempt)

    def _exit(self, attempt: Attempt, rollout_id: str, index: int) -> Iterator[Ingested]:
        ended = classify_exit(attempt.exit_status)
        known = Known.of(attempt, rollout_id, index)
        self._matcher.know(known, attempt.turns is not None)
        if ended is not None:
            outcome = Outcome(rollout_id, "exit", ended, detail=attempt.exit_status)
            known.outcomes.append(outcome)
            yield outcome
        elif not is_known(attempt.exit_status):
            status = (attempt.exit_status or "")[:80]
            detail = f"exit status {status!r} is no known word; it says nothing of the outcome"
            yield attempt.source.note("exit_status_unknown", detail, subject="rollout")

    def _closing_lines(self) -> Iterator[CensusLine]:
        for task_id, number in self._rollouts.items():
            if task_id not in self._tasks:
                detail = "no task row; its rollouts are kept. Give the task's row to have them scored"
                yield CensusLine("ingest", "task", "no_task", task_id, detail, number)
        for group_id, policies in self._groups.items():
            if len(policies) > 1:
                names = ", ".join(sorted(str(policy) for policy in policies))
                detail = f"its advantages compare policies: {names}. Use --group-by task,policy to keep them apart"
                yield CensusLine("ingest", "task", "mixed_policies", group_id, detail)
        for (run, source), ids in self._exits_without_rollout().items():
            some = ", ".join(ids[:5]) + (", ..." if len(ids) > 5 else "")
            detail = f"run {run!r} has no rollout of {some}; correct the names if they are misspelt"
            yield source.note("exit_status_without_rollout", detail, subject="rollout", count=len(ids))

    def _exits_without_rollout(self) -> dict[tuple[str, Source], list[str]]:
        """Ids that exit notes name and no rollout has, by run and file."""
        missing: dict[tuple[str, Source], list[str]] = {}
        for (task_id, run), note in self._exits.items():
            if not self._matcher.has(task_id, run):
                missing.setdefault((run, note.source), []).append(task_id)
        return missing
