"""The judge that asks once: task, criteria and the whole attempt in one prompt, both rubrics in one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

from rubrics.errors import ModelError
from rubrics.judges.answers import failed, merged
from rubrics.judges.questions import asks_for, instructions, task_part
from rubrics.models.model import Model
from rubrics.prompting.fences import fence, shown
from rubrics.prompting.patches import patch_view
from rubrics.prompting.sizes import most_tokens
from rubrics.prompting.templates import prompt_digest, render
from rubrics.prompting.transcripts import full, opening_turns
from rubrics.records.judgements import Case, Judgement
from rubrics.records.models import Answer, Reply, Request
from rubrics.records.tasks import Task
from rubrics.replies.evidence import Sources
from rubrics.replies.verdicts import Ask, VerdictSet, read_verdicts, verdict_schema

TEMPLATES = ("judge_single", "judge_single_task", "judge_single_attempt")


class SingleJudge:
    """Asks `model` once per rollout. What does not fit into `max_prompt_tokens` (null: no limit is known) is split by
    criteria where that helps, else refused as `too_long`; nothing is cut."""

    def __init__(self, model: Model, max_prompt_tokens: int | None = None) -> None:
        self.name = f"single:{model.name}"
        self._model = model
        self._limit = max_prompt_tokens

    async def judge(self, case: Case) -> Judgement:
        """See `Judge.judge`."""
        asks = asks_for(case)
        digest = prompt_digest(*TEMPLATES)
        if not asks:
            return Judgement(case.rollout.rollout_id, self.name, case.repeat, (), prompt_digest=digest)
        attempt = _attempt(case, asks)
        parts = self._parts(case.task, asks, attempt)
        if parts is None:
            tokens = most_tokens(_messages(case.task, asks[:1], attempt))
            detail = f"about {tokens} tokens of prompt; the limit is {self._limit}: raise it, or let an agent judge"
            return failed(self.name, case, digest, "too_long", detail)
        sources = Sources(case.rollout.patch, case.rollout.turns)
        answers: list[Answer[VerdictSet]] = []
        try:
            for part in parts:
                answer = await self._model.ask(_request(case, part, attempt), partial(_read, part, sources))
                answers.append(answer)
        except ModelError as error:
            return failed(self.name, case, digest, error.kind, str(error), answers, error.calls)
        return merged(self.name, case, digest, parts, answers)

    def requests(self, case: Case) -> tuple[Request, ...]:
        """What would be sent, in order; empty where nothing is asked, or nothing fits."""
        asks = asks_for(case)
        attempt = _attempt(case, asks) if asks else ""
        parts = self._parts(case.task, asks, attempt) if asks else ()
        return tuple(_request(case, part, attempt) for part in parts or ())

    def _parts(self, task: Task, asks: tuple[Ask, ...], attempt: str) -> tuple[tuple[Ask, ...], ...] | None:
        """The criteria of each call: all in one if they fit, else as many at a time as fit; null when one does not."""
        if self._fits(task, asks, attempt):
            return (asks,)
        parts: list[tuple[Ask, ...]] = []
        for ask in asks:
            if parts and self._fits(task, (*parts[-1], ask), attempt):
                parts[-1] = (*parts[-1], ask)
            elif self._fits(task, (ask,), attempt):
                parts.append((ask,))
            else:
                return None
        return tuple(parts)

    def _fits(self, task: Task, asks: tuple[Ask, ...], attempt: str) -> bool:
        return self._limit is None or most_tokens(_messages(task, asks, attempt)) <= self._limit


def _read(asks: Sequence[Ask], sources: Sources, reply: Reply) -> VerdictSet:
    return read_verdicts(reply.text, asks, sources.wrong)


def _request(case: Case, asks: tuple[Ask, ...], attempt: str) -> Request:
    messages = _messages(case.task, asks, attempt)
    return Request(messages, (), _schema(asks), "verdicts", case.repeat, "judge")


def _messages(task: Task, asks: tuple[Ask, ...], attempt: str) -> tuple[dict[str, Any], ...]:
    return (
        {"role": "system", "content": instructions("judge_single")},
        {"role": "user", "content": task_part(task, asks) + attempt},
    )


@lru_cache(maxsize=64)
def _schema(asks: tuple[Ask, ...]) -> dict[str, Any]:
    return verdict_schema(asks)


def _attempt(case: Case, asks: Sequence[Ask]) -> str:
    return render("judge_single_attempt", sections=list(_sections(case, asks)))


def _sections(case: Case, asks: Sequence[Ask]) -> Iterator[str]:
    """The transcript (where behavior is asked about) before the patch: its opening is the same for most attempts."""
    rollout = case.rollout
    if rollout.turns is not None and any(ask.kind == "behavior" for ask in asks):
        told = opening_turns(rollout.turns)
        if told:
            yield fence("opening of the transcript", full(rollout.turns, 0, told - 1))
        yield fence("transcript", full(rollout.turns, told))
    if rollout.patch is not None:
        yield fence("patch", patch_view(rollout.patch))
    if case.tests is not None:
        yield fence("test results", shown(case.tests))
