"""The judge that works in the rollout's own environment: an outline first, tools for the rest, verdicts by a tool.

Verdicts come through `submit_verdicts` alone: what lies in the environment, and what a turn says beside its calls, is
never one. A conversation that came to its end is remembered by the model's cache and is not held again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial

from rubrics.agents.attempt_outline import sections
from rubrics.agents.environment_tools import OFFERED
from rubrics.agents.loop import Bounds, Conversation, Handled, converse
from rubrics.agents.threads import in_thread
from rubrics.agents.tools import Looks, ShownAttempt, attempt_tools, environment_tools
from rubrics.digests import digest128
from rubrics.environments.session import Session
from rubrics.errors import AttemptError, InfraError, ModelError
from rubrics.judges import stored
from rubrics.judges.questions import asks_for, instructions, task_part
from rubrics.models.model import Model
from rubrics.prompting.templates import prompt_digest, render
from rubrics.records.judgements import Case, Judgement
from rubrics.records.models import Request, Tool
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Task
from rubrics.replies.evidence import Sources
from rubrics.replies.verdicts import Ask, VerdictSet, read_verdicts, verdict_schema

TEMPLATES = ("judge_agent", "judge_single_task", "judge_agent_attempt")
MORE_PLACES = " run:NUMBER is an answer of run_command, read_file, list_files or search by its number."
VERSION = "1"
"""Of the tools and the loop: part of what finished work is remembered under."""

ENVIRONMENTS = 8
"""Environments that are open at once: each may take its whole limit of memory."""

Opener = Callable[[Task, Rollout], Session]


def start_of(task: Task, rollout: Rollout) -> str:
    """What decides the state that a rollout is rebuilt from, as far as the task says it."""
    return digest128([task.image, task.recipe, task.repository, task.base_commit, task.workdir, rollout.snapshot])


class AgentJudge:
    """Judges by one conversation per rollout and repeat, in the environment that `opener` opens; `at_once` of them are
    open at most, whoever asks.

    `start` names what the environment is made from, for instance a digest of its image: finished work is remembered
    under it, and recalled without opening anything.
    """

    def __init__(
        self,
        model: Model,
        opener: Opener,
        bounds: Bounds | None = None,
        *,
        start: Callable[[Task, Rollout], str] = start_of,
        at_once: int = ENVIRONMENTS,
    ) -> None:
        self.name = f"agent:{model.name}"
        self._model = model
        self._opener = opener
        self._bounds = bounds or Bounds()
        self._start = start
        self._places = asyncio.Semaphore(at_once)

    async def judge(self, case: Case) -> Judgement:
        """See `Judge.judge`."""
        asks = asks_for(case)
        nothing = Judgement(
            case.rollout.rollout_id, self.name, case.repeat, (), prompt_digest=prompt_digest(*TEMPLATES)
        )
        if not asks:
            return nothing
        request = _request(case, asks)
        start = await in_thread(partial(self._start, case.task, case.rollout))  # it may ask the engine
        key = self._model.key(request, "agent", VERSION, case.rollout.content_digest, case.tests or "", start)
        kept = _kept(await self._model.recall(key), asks)
        if kept is not None:
            return replace(
                kept, rollout_id=nothing.rollout_id, judge=self.name, repeat=case.repeat, calls=0, from_cache=True,
                prompt_digest=nothing.prompt_digest,
            )  # fmt: skip
        async with self._places:
            judgement = await self._entered(case, asks, request, nothing)
        if judgement.failure_class is None:
            await self._model.remember(key, stored.to_json(judgement))
        return judgement

    def requests(self, case: Case) -> tuple[Request, ...]:
        """The first request of the conversation; empty where nothing is asked."""
        asks = asks_for(case)
        return (_request(case, asks),) if asks else ()

    async def _entered(self, case: Case, asks: tuple[Ask, ...], request: Request, nothing: Judgement) -> Judgement:
        talk: Conversation[VerdictSet] = Conversation([])
        looks = Looks()
        began, rung, session = time.monotonic(), None, None
        try:
            session = await in_thread(lambda: self._opener(case.task, case.rollout), _closed)
            rung = session.rung
            tools = _tools(case, session, looks, self._bounds)
            sources = Sources(case.rollout.patch, case.rollout.turns, looks.ran)
            await converse(
                self._model, request, tools, _submit(asks), lambda text: read_verdicts(text, asks, sources.wrong),
                self._bounds, talk,
            )  # fmt: skip
        except ModelError as error:
            nothing = replace(nothing, failure_class=error.kind, detail=str(error))
        except InfraError as error:
            nothing = replace(nothing, failure_class=f"infra_{error.kind}", detail=str(error))
        except AttemptError as error:
            nothing = replace(nothing, failure_class=f"attempt_{error.kind}", detail=str(error))
        finally:
            if session is not None:
                await in_thread(partial(_closed, session))
        done = replace(nothing, rung=rung, commands=tuple(ran.command for ran in looks.ran))
        return _accounted(done, talk, time.monotonic() - began)


def _closed(session: Session) -> None:
    """What cannot be closed is swept by the backend's next start; the verdicts stand."""
    with suppress(InfraError):
        session.close()


def _accounted(judgement: Judgement, talk: Conversation[VerdictSet], seconds: float) -> Judgement:
    """With what the conversation came to, where it did not fail, and what it cost in any case."""
    if judgement.failure_class is None and talk.value is not None:
        judgement = replace(judgement, verdicts=talk.value.verdicts, addressed=talk.value.addressed)
    if not talk.replies:
        return replace(judgement, seconds=seconds)
    return replace(
        judgement, model=talk.replies[-1].model, calls=len(talk.replies), usage=talk.usage, cost=talk.cost,
        seconds=seconds,
    )  # fmt: skip


def _kept(text: str | None, asks: tuple[Ask, ...]) -> Judgement | None:
    """What was remembered, if it answers exactly what is asked."""
    if text is None:
        return None
    try:
        judgement = stored.from_json(text)
    except ValueError:
        return None
    said = [(item.kind, item.criterion_id) for item in judgement.verdicts]
    wanted = [(ask.kind, ask.criterion.id) for ask in asks]
    return judgement if said == wanted and judgement.failure_class is None else None


def _attempt(case: Case) -> ShownAttempt:
    return ShownAttempt(case.rollout.patch, case.rollout.turns, case.tests)


def _tools(case: Case, session: Session, looks: Looks, bounds: Bounds) -> tuple[Handled, ...]:
    inside = environment_tools(session, looks, time.monotonic() + bounds.seconds, bounds.command_seconds)
    return (*inside, *attempt_tools({"": _attempt(case)}, single=True))


@lru_cache(maxsize=1)
def _offered() -> tuple[Tool, ...]:
    """The tools as `_tools` gives them, before anything is opened."""
    return (*OFFERED, *(item.tool for item in attempt_tools({"": ShownAttempt(None, None)}, single=True)))


@lru_cache(maxsize=64)
def _submit(asks: tuple[Ask, ...]) -> Tool:
    return Tool("submit_verdicts", "Hand in all verdicts, once, at the end.", verdict_schema(asks))


def _request(case: Case, asks: tuple[Ask, ...]) -> Request:
    """The first request, with the tools as they will be offered."""
    messages = (
        {"role": "system", "content": instructions("judge_agent", MORE_PLACES)},
        {"role": "user", "content": task_part(case.task, asks) + _shown(case)},
    )
    return Request(messages, (*_offered(), _submit(asks)), None, "verdicts", case.repeat, "judge")


def _shown(case: Case) -> str:
    return render("judge_agent_attempt", sections=list(sections(_attempt(case))))
