"""What makes two rollouts one, and two rollouts a group: the ids by which every table is joined.

`task_id` is the dump's own name of the task. `rollout_id` and `group_id` are digests, unique over the whole store,
and never depend on a path; what the dump calls them is kept beside them, as `source_id` and `source_group`, for people
to find them by, and joins nothing.
"""

from __future__ import annotations

from rubrics.digests import digest128


def rollout_id_of(
    task_id: str,
    policy: str | None,
    run: str,
    policy_step: int | None,
    attempt: int,
    patch: str | None,
    transcript: str | None,
) -> str:
    """128-bit digest (32 hex digits) of a rollout; `transcript` in its stored form, null without one."""
    return digest128([task_id, policy, run, policy_step, attempt, patch, transcript])


def content_digest_of(patch: str | None, transcript: str | None) -> str:
    """128-bit digest of what an attempt left: rollouts of a task that agree in it are duplicates."""
    return digest128([patch, transcript])


def group_id_of(task_id: str, source_group: str | None, policy_step: int | None, *policy: str | None) -> str:
    """128-bit digest (32 hex digits) of a group: its task, the dump's own name of it, or else the policy step; and the
    policy where groups are told apart by it. Equal names in different tasks are different groups."""
    return digest128([task_id, source_group, policy_step if source_group is None else None, *policy])
