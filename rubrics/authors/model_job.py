"""One task to write rubrics for: what its author works with, and how its drafts are examined."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from rubrics.agents.loop import Handled
from rubrics.agents.tools import Looks, ShownAttempt, attempt_tools, environment_tools
from rubrics.authors.author import Brief, StudiedAttempt
from rubrics.authors.finished import Examined
from rubrics.authors.lint_records import Finding
from rubrics.authors.model_base import Base
from rubrics.authors.model_draft import Drafts, criteria
from rubrics.authors.model_ground import ground, labels_of
from rubrics.authors.model_prompt import opening
from rubrics.authors.model_talk import REVISION, STUDY
from rubrics.authors.model_trial import Trial
from rubrics.environments.session import Session
from rubrics.records.models import Request
from rubrics.records.rubrics import KINDS, Kind
from rubrics.rules.evaluate import RuleEvaluator, measured_table


@dataclass(frozen=True, slots=True)
class Desk:
    """What the author of one task works with."""

    environment: str | None
    """Digest of what the task's environment is made from; null: there is none."""
    open: Callable[[], Session]
    """The environment at base, prepared: nothing in it tells the answer. Raises `InfraError`."""
    look: Callable[[], Session]
    """The same for programs that look whether something stands there, with nobody else in it. Raises `InfraError`."""
    copies_sealed: Callable[[str], bool]
    """Whether a text repeats a passage of what is sealed."""


@dataclass(frozen=True, slots=True)
class Job:
    """One task to write rubrics for."""

    brief: Brief
    studied: tuple[StudiedAttempt, ...]
    study_digest: str
    desk: Desk
    trial: Trial

    def opening(self, entered: bool) -> Request:
        """The first messages; blocks for some tens of milliseconds."""
        with RuleEvaluator() as evaluator:

            def evaluate(rules: Sequence[str], attempts: Sequence[StudiedAttempt]) -> list[tuple[float | None, ...]]:
                return evaluator.values(rules, measured_table([{**a.facts, **a.contrasts} for a in attempts]))

            return opening(self.brief, self.studied, self.study_digest, entered, evaluate)

    def tools(self, session: Session | None) -> tuple[Handled, ...]:
        """What the author may look with; without a session at the attempts only."""
        shown = {
            label: ShownAttempt(
                item.rollout.patch if item.rollout else None, item.rollout.turns if item.rollout else None, item.tests
            )
            for label, item in zip(labels_of(self.studied), self.studied, strict=True)
        }
        if session is None:
            return attempt_tools(shown)
        until = monotonic() + STUDY.seconds + REVISION.seconds
        return (*environment_tools(session, Looks(), until), *attempt_tools(shown))

    async def examined(self, drafts: Drafts, base: Base, entered: bool) -> dict[Kind, list[Examined]]:
        """Every criterion with what lint and trial say against it."""
        with RuleEvaluator() as evaluator:
            rests_on = ground(self.brief, self.studied, base, entered, self.desk.copies_sealed, evaluator.check)
            return await self.trial.examine(criteria(drafts, self.studied), rests_on)


def reported(job: Job, base: Base, entered: bool) -> Callable[[Drafts], Coroutine[Any, Any, list[Finding]]]:
    """What lint and trial say against a draft."""

    async def examine(drafts: Drafts) -> list[Finding]:
        found = await job.examined(drafts, base, entered)
        return [finding for kind in KINDS for item in found[kind] for finding in item.findings]

    return examine
