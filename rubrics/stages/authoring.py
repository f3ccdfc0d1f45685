"""What an author that asks a model is given: tasks' environments, prepared, and a question about what is sealed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from rubrics.authors.author import Brief, StudiedAttempt
from rubrics.authors.lint_ground import shared_passage
from rubrics.authors.model_job import Desk
from rubrics.digests import digest128
from rubrics.environments.session import Environment, Session
from rubrics.errors import InfraError
from rubrics.facts.diffs import parse_patch
from rubrics.preparation.config import Preparation
from rubrics.preparation.loop import prepare
from rubrics.records.tasks import SealedTask, Task
from rubrics.stages.prepare import ISOLATED
from rubrics.stages.study_source import Opened

PREPARED = "prepared"
"""Rung of a state that `rubrics prepare` proved clean."""


class Desks:
    """Makes the desk of each task."""

    def __init__(
        self,
        tasks: Mapping[str, tuple[Task, SealedTask | None]],
        environment: Environment | None,
        config: Preparation,
    ) -> None:
        self._tasks = tasks
        self._environment = environment
        self._config = config

    def __call__(self, brief: Brief) -> Desk:
        task, sealed = self._tasks.get(brief.task_id, (None, None))
        environment = self._environment if task is not None and brief.has_repository else None
        return Desk(
            environment=None if task is None or environment is None else environment_digest(task),
            open=lambda: self._opened(task, sealed),
            look=lambda: self._entered(task),
            copies_sealed=sealed_question(sealed, brief.spec),
        )

    def _entered(self, task: Task | None) -> Session:
        if task is None or self._environment is None:
            raise InfraError("no_environment", "the task has no row, or no environments are opened")
        return self._environment.open(task, None)

    def _opened(self, task: Task | None, sealed: SealedTask | None) -> Session:
        """The task's start, scrubbed here and now where `rubrics prepare` did not: history may tell the answer."""
        session = self._entered(task)
        try:
            if task is not None and session.rung != PREPARED:
                self._scrub(session, task, sealed)
        except BaseException:
            session.close()
            raise
        return session

    def _scrub(self, session: Session, task: Task, sealed: SealedTask | None) -> None:
        name = self._environment.name if self._environment else "none"
        if name not in ISOLATED:
            raise InfraError("not_isolated", f"--env {name} cannot be prepared; use {' or '.join(ISOLATED)}")
        prepared = prepare(session, task, sealed, self._config)
        if not prepared.clean:
            left = "; ".join(f"{item.kind} {item.place}" for item in prepared.open[:3]) or "the proof does not hold"
            raise InfraError("not_clean", f"it may tell the answer ({left}); see `rubrics prepare`")


def environment_digest(task: Task) -> str:
    """Digest of what the task's environment is made from."""
    return digest128([task.image, task.recipe, task.repository, task.base_commit, task.workdir])


def sealed_question(sealed: SealedTask | None, spec: str | None) -> Callable[[str], bool]:
    """Whether a text repeats a passage of reference, hidden tests or hints that the spec does not hold.

    The sealed text stays in here: what asks gets yes or no.
    """
    if sealed is None:
        return lambda text: False
    patches = [item.open_for("audit") for item in (sealed.reference_patch, sealed.test_patch) if item is not None]
    sources = [_added(patch) for patch in patches]
    if sealed.hints is not None:
        sources.append(sealed.hints.open_for("audit"))
    return lambda text: any(shared_passage(text, source, spec or "") is not None for source in sources)


def _added(patch: str) -> str:
    lines = (line for file in parse_patch(patch).files for hunk in file.hunks for line in hunk.lines)
    return "\n".join(line.text for line in lines if line.kind == "added")


def with_contents(studied: Iterable[StudiedAttempt], opened: Opened) -> tuple[StudiedAttempt, ...]:
    """The studied attempts with their patches, transcripts, and statuses of tests."""
    return tuple(
        replace(item, rollout=opened[item.rollout_id][0], tests=opened[item.rollout_id][1]) for item in studied
    )
