"""The rebuild ladder: the first rung that gives the rollout's state, and its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from rubrics.environments.applying import apply_patch, check_patch
from rubrics.environments.recipes import Start, starts
from rubrics.environments.session import Session
from rubrics.errors import InfraError, PatchRefused
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Task

_BROKEN = frozenset({"no_engine", "engine_died", "disk_full", "no_sandbox", "mount", "state"})
"""Kinds of `InfraError` that no other rung can mend."""


class Opened(Session, Protocol):
    """A session whose rung can still be set."""

    rung: str
    attempt: bool
    """Whether the state is an attempt's: then what cannot be written is its doing."""


def climb(task: Task, rollout: Rollout | None, saved: str | None, begin: Callable[[Start], Opened]) -> Session:
    """The session of the first rung that works; `saved` is a state that was kept of the task's start.

    `begin` opens the state that a rung starts from; one on which a patch did not go on is closed, so that a rung finds
    nothing of the one before. Raises `PatchRefused` where a rung was there and the patch is to blame, else
    `InfraError`, naming every rung that failed and why.
    """
    failed: list[str] = []
    errors: list[InfraError | PatchRefused] = []
    for start in starts(task, rollout, saved):
        try:
            return _stand_on(start, rollout, begin)
        except (InfraError, PatchRefused) as error:
            if error.kind in _BROKEN:
                raise
            errors.append(error)
            failed.append(f"{start.rung}: {error}")
    if not errors:
        message = f"task {task.task_id} names no image, recipe or repository; give one in the task row"
        raise InfraError("no_rung", message)
    raise _failure(errors, "; ".join(failed))


def _failure(errors: list[InfraError | PatchRefused], message: str) -> InfraError | PatchRefused:
    """A patch that is proved damaged is nobody's fault; one that a rung refused is its attempt's."""
    damaged = next((error for error in errors if error.kind == "patch_damaged"), None)
    refused = next((error for error in errors if isinstance(error, PatchRefused)), None)
    if damaged is not None:
        return InfraError(damaged.kind, message)
    if refused is not None:
        return PatchRefused(refused.kind, message)
    return InfraError(errors[0].kind if len(errors) == 1 else "no_rung", message)


def start_digest(task: Task, digest_of: Callable[[Start], str]) -> str | None:
    """Digest of the image of the first rung of a task's start; null when none can be had."""
    for start in starts(task, None):
        try:
            return digest_of(start)
        except InfraError as error:
            if error.kind in _BROKEN:
                raise
    return None


def _stand_on(start: Start, rollout: Rollout | None, begin: Callable[[Start], Opened]) -> Session:
    patch = rollout.patch if rollout is not None and start.patched else None
    if start.patched and rollout is not None:
        if patch is None:
            raise InfraError("no_patch", f"rollout {rollout.rollout_id} has no patch to put on the {start.rung}")
        check_patch(patch)
    session = begin(start)
    session.attempt = rollout is not None
    try:
        session.rung = start.rung if patch is None else f"{start.rung}+patch{apply_patch(session, patch)}"
    except BaseException:
        session.close()
        raise
    return session
