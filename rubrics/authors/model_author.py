"""The author that asks a model: it studies, hands in a draft, is told once what is wrong, and hands it in again."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from rubrics import __version__
from rubrics.agents.loop import Handled
from rubrics.authors.author import Brief, StudiedAttempt
from rubrics.authors.finished import Examined, Written, finished
from rubrics.authors.model_base import Base
from rubrics.authors.model_draft import Work, own_note
from rubrics.authors.model_ground import labels_of
from rubrics.authors.model_job import Desk, Job, reported
from rubrics.authors.model_prompt import digest
from rubrics.authors.model_talk import talk
from rubrics.authors.model_trial import Trial
from rubrics.errors import InfraError
from rubrics.judges.judge import Judge
from rubrics.models.model import Model
from rubrics.records.models import Request
from rubrics.records.rubrics import KINDS, Kind, Rubric

T = TypeVar("T")
Pair = tuple[Rubric, Rubric]
Tell = Callable[[str, str, str], None]
"""(task id, kind, detail): a line for the census."""


class Run(Protocol):
    def __call__(self, work: Coroutine[Any, Any, T]) -> T:
        """Carry a coroutine to its end; what it returns or raises."""


class ModelAuthor:
    """An `Author` for many threads. Finished work is remembered: a rerun asks nothing again but what failed."""

    def __init__(
        self, model: Model, run: Run, desk: Callable[[Brief], Desk], tell: Tell, judge: Judge | None = None
    ) -> None:
        """`judge` tries the criteria that no rule can; without one they stay untried."""
        self.name = model.name
        self._model = model
        self._run = run
        self._desk = desk
        self._tell = tell
        self._judge = judge

    def write(self, brief: Brief, studied: tuple[StudiedAttempt, ...], study_digest: str) -> Pair:
        """See `Author.write`. The attempts come with their rollouts."""
        job = Job(brief, studied, study_digest, self._desk(brief), Trial(brief, studied, self._judge))
        if job.desk.environment is not None:
            try:
                return self._at(job, entered=True)
            except _NoEnvironment as error:
                self._tell(brief.task_id, "no_environment", f"its author works without one: {error}")
        return self._at(job, entered=False)

    def _at(self, job: Job, entered: bool) -> Pair:
        """An environment is opened only where the work is not remembered, and in this thread: one that is opened by a
        thread ends with it."""
        first = job.opening(entered)
        judge = self._judge.name if self._judge else ""
        place = job.desk.environment if entered else None
        key = self._model.key(first, job.study_digest, place or "", judge, digest(), __version__)
        work = Work.from_json(self._run(self._model.recall(key)), labels_of(job.studied))
        with ExitStack() as stack:
            base = stack.enter_context(closing(Base(job.desk.look if entered else None, work.base if work else None)))
            if work is not None:
                return self._run(self._conclude(job, work, base, entered))
            session = None
            if entered:
                try:
                    session = stack.enter_context(closing(job.desk.open()))
                    base.open()
                except InfraError as error:
                    raise _NoEnvironment(f"{error.kind}: {error}") from None
            return self._run(self._written(job, first, key, job.tools(session), base, entered))

    async def _written(
        self, job: Job, first: Request, key: str, tools: Sequence[Handled], base: Base, entered: bool
    ) -> Pair:
        work = await talk(self._model, first, tools, labels_of(job.studied), reported(job, base, entered))
        rubrics = await self._conclude(job, work, base, entered)
        await self._model.remember(key, replace(work, base=base.answers).to_json())
        return rubrics

    async def _conclude(self, job: Job, work: Work, base: Base, entered: bool) -> Pair:
        drafts = work.last(labels_of(job.studied))
        examined = await job.examined(drafts, base, entered)
        self._account(job.brief.task_id, work, examined)
        solution, behavior = (
            finished(
                kind, job.brief, job.studied, job.study_digest, examined[kind],
                Written(self.name, entered, own_note(drafts[kind])),
            )
            for kind in KINDS
        )  # fmt: skip
        return solution, behavior

    def _account(self, task_id: str, work: Work, examined: dict[Kind, list[Examined]]) -> None:
        self._tell(task_id, "written_by_model", f"{work.model}, {work.turns} turns")
        for kind, items in examined.items():
            for item in items:
                if item.findings:
                    self._tell(task_id, "criterion_dropped", f"{kind} {item.criterion.id}: {item.why}")


class _NoEnvironment(Exception):
    """The environment cannot be entered; the author works without it."""
