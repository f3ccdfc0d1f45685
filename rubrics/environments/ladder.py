"""The rebuild ladder: the first rung that gives the rollout's state, and its name."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Protocol

from rubrics.environments.recipes import Start, starts
from rubrics.environments.session import CommandResult, Session
from rubrics.errors import InfraError
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Task

APPLY = (
    ("", "git apply --whitespace=nowarn {patch}"),
    ("(3way)", "git update-index -q --refresh; git apply --3way --whitespace=nowarn {patch}"),
    ("(fuzz)", "patch -p1 --batch --forward --fuzz=3 --no-backup-if-mismatch --reject-file=- < {patch}"),
)
"""Ways to apply a patch, the strictest first, with what they add to the rung's name."""
APPLY_SECONDS = 120.0
_BROKEN = frozenset({"no_engine", "engine_died", "disk_full", "no_sandbox", "mount", "state"})
"""Kinds of `InfraError` that no other rung can mend."""


class Opened(Session, Protocol):
    """A session whose rung can still be set."""

    rung: str


def climb(task: Task, rollout: Rollout | None, saved: str | None, begin: Callable[[Start], Opened]) -> Session:
    """The session of the first rung that works; `saved` is a state that was kept of the task's start.

    `begin` opens the state that a rung starts from. Raises `InfraError` naming every rung that failed and why.
    """
    failed: list[str] = []
    first: InfraError | None = None
    for start in starts(task, rollout, saved):
        try:
            return _stand_on(start, rollout, begin)
        except InfraError as error:
            if error.kind in _BROKEN:
                raise
            first = first or error
            failed.append(f"{start.rung}: {error}")
    if first is None:
        message = f"task {task.task_id} names no image, recipe or repository; give one in the task row"
        raise InfraError("no_rung", message)
    raise InfraError(first.kind if len(failed) == 1 else "no_rung", "; ".join(failed))


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
    if start.patched and rollout is not None and rollout.patch is None:
        raise InfraError("no_patch", f"rollout {rollout.rollout_id} has no patch to put on the {start.rung}")
    session = begin(start)
    try:
        if rollout is None:
            session.rung = start.rung
        else:
            way = apply_patch(session, rollout.patch or "") if start.patched else None
            session.rung = start.rung if way is None else f"{start.rung}+patch{way}"
    except BaseException:
        session.close()
        raise
    return session


def apply_patch(session: Session, patch: str) -> str:
    """Apply a patch in the session's working folder; returns what the way adds to the rung's name."""
    if not patch.strip():
        return ""
    name = f"/tmp/{secrets.token_hex(8)}.diff"
    text = patch if patch.endswith("\n") else f"{patch}\n"
    session.write(name, text.encode("utf-8", "surrogateescape"))
    said = []
    for way, command in APPLY:
        done = session.run(command.format(patch=name), APPLY_SECONDS)
        if done.exit_code == 0:
            session.run(f"git reset -q 2>/dev/null; rm -f {name}", APPLY_SECONDS)
            return way
        said.append(_last_line(done))
        if way == "(3way)" or done.limit is not None:
            session.run("git reset -q --hard 2>/dev/null && git clean -fdq 2>/dev/null", APPLY_SECONDS)
    raise InfraError("no_rung", f"the patch does not apply by git apply, 3-way or patch with fuzz: {' | '.join(said)}")


def _last_line(done: CommandResult) -> str:
    lines = [line for line in done.output.splitlines() if line.strip()]
    return lines[-1][:200] if lines else f"exit code {done.exit_code}"
