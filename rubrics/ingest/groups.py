"""Groups of rollouts, and which of them mix what should not be compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rubrics.ingest.items import Attempt
from rubrics.records.census import CensusLine
from rubrics.records.identity import group_id_of

MOST_WAITING = 1_000
"""Attempts whose policy step cannot be read that wait for the others; what comes beyond is not held in memory."""


NAMED = 10
"""Policies or steps of a mixed group that its line names."""


@dataclass(slots=True)
class _Group:
    task_id: str
    source_group: str | None
    policies: set[str | None] = field(default_factory=set)
    steps: set[int | None] = field(default_factory=set)


class Groups:
    """Gives group ids (`group_id_of`), and remembers what each group holds."""

    def __init__(self, group_by: str) -> None:
        self._by_policy = group_by == "task,policy"
        self._groups: dict[str, _Group] = {}
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
        policy = (attempt.policy,) if self._by_policy else ()
        steps = self._steps.setdefault((attempt.task_id, *policy), set())
        step = attempt.policy_step
        if attempt.step_unread and len(steps) == 1:
            (step,) = steps
        elif not attempt.step_unread and attempt.group_id is None:
            steps.add(step)
        group_id = group_id_of(attempt.task_id, attempt.group_id, step, *policy)
        group = self._groups.setdefault(group_id, _Group(attempt.task_id, attempt.group_id))
        group.policies.add(attempt.policy)
        if not attempt.step_unread:
            group.steps.add(attempt.policy_step)
        return group_id

    def mixed(self) -> Iterator[CensusLine]:
        """A line for each group of several policies or policy steps; its place is the group_id."""
        for group_id, group in self._groups.items():
            where = f"task {group.task_id}" + ("" if group.source_group is None else f", group {group.source_group}")
            for kind, what, values, remedy in (
                ("mixed_policies", "policies", group.policies, "Use --group-by task,policy to keep them apart"),
                ("mixed_steps", "policy steps", group.steps, "Give each step a `group_id` of its own, or none"),
            ):
                if len(values) > 1:
                    detail = f"{where}: its advantages compare {what}: {_listed(values)}. {remedy}"
                    yield CensusLine("ingest", "task", kind, group_id, detail)


def _listed(values: set[str | None] | set[int | None]) -> str:
    names = sorted(map(str, values))
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
