"""Groups of rollouts, and which of them mix what should not be compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from rubrics.ingest.identity import group_of
from rubrics.ingest.items import Attempt
from rubrics.records.census import CensusLine

MOST_WAITING = 1_000
"""Attempts whose policy step cannot be read that wait for the others; what comes beyond is not held in memory."""


@dataclass(slots=True)
class _Group:
    policies: set[str | None] = field(default_factory=set)
    steps: set[int | None] = field(default_factory=set)


class Groups:
    """Gives group ids: the dump's own, else by task, policy step and, where asked for, policy."""

    def __init__(self, group_by: str) -> None:
        self._group_by = group_by
        self._groups: dict[tuple[str, str], _Group] = {}
        self._steps: dict[tuple[str, str | None], set[int | None]] = {}
        self._waiting = 0

    def must_wait(self, attempt: Attempt) -> bool:
        """Whether the attempt's group depends on attempts that are still to come."""
        waits = attempt.step_unread and attempt.group_id is None and self._waiting < MOST_WAITING
        self._waiting += waits
        return waits

    def of(self, attempt: Attempt) -> str:
        """The attempt's group. One whose step cannot be read is no group of its own: it belongs to the only group there
        is."""
        policy = attempt.policy if self._group_by == "task,policy" else None
        steps = self._steps.setdefault((attempt.task_id, policy), set())
        placed = attempt
        if attempt.step_unread and len(steps) == 1:
            placed = replace(attempt, policy_step=next(iter(steps)))
        elif not attempt.step_unread and attempt.group_id is None:
            steps.add(attempt.policy_step)
        group_id = attempt.group_id or group_of(placed, self._group_by)
        group = self._groups.setdefault((attempt.task_id, group_id), _Group())
        group.policies.add(attempt.policy)
        if not attempt.step_unread:
            group.steps.add(attempt.policy_step)
        return group_id

    def mixed(self) -> Iterator[CensusLine]:
        """A line for each group of several policies or policy steps."""
        for (task_id, group_id), group in self._groups.items():
            for kind, what, values, remedy in (
                ("mixed_policies", "policies", group.policies, "Use --group-by task,policy to keep them apart"),
                ("mixed_steps", "policy steps", group.steps, "Give each step a `group_id` of its own, or none"),
            ):
                if len(values) > 1:
                    names = ", ".join(sorted(str(value) for value in values))
                    detail = f"task {task_id}: its advantages compare {what}: {names}. {remedy}"
                    yield CensusLine("ingest", "task", kind, group_id, detail)
