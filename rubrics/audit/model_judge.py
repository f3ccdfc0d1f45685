"""The audit judge: a model confirms or rejects suspicions from patch, transcript and the whole group side by side.

Only evidence that resolves confirms; a reply that cannot be used leaves every suspicion as it was.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from rubrics.agents.loop import Bounds, converse
from rubrics.agents.tools import ShownAttempt, attempt_tools
from rubrics.audit.model_cases import SUBMIT, SUSPECT, Case, outlined, whole
from rubrics.errors import ModelError, UnusableReply
from rubrics.models.model import Model
from rubrics.prompting.sizes import most_tokens
from rubrics.records.models import Tool
from rubrics.replies.audits import Decided, audit_schema, read_audit
from rubrics.replies.evidence import Sources, labelled

AT_ONCE = 60_000
"""Tokens of a prompt above which the attempts are opened with tools instead."""
BOUNDS = Bounds(turns=30, seconds=1800.0)


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the judge says of one case: a decision on every suspicion, in their order, or a failure class."""

    case: Case
    decided: tuple[Decided, ...] = ()
    failure_class: str | None = None
    detail: str = ""


class AuditJudge:
    """Asks `model` once per suspected attempt, or lets it open the attempts with tools where they are long.

    `room`: tokens that a prompt may take.
    """

    def __init__(self, model: Model, room: int = AT_ONCE, bounds: Bounds = BOUNDS) -> None:
        self.source = f"judge:{model.name}"
        self._model = model
        self._most = min(AT_ONCE, room)
        self._bounds = bounds

    async def judge(self, case: Case) -> Opinion:
        """Never raises for what a reply did wrong; `UsageError` where nothing can ever be judged."""
        sources = {label: Sources(item.patch, item.turns).wrong for label, item in case.labels.items()}
        read = partial(read_audit, asked=dict.fromkeys(case.ids, SUSPECT), resolve=labelled(sources))
        try:
            request = whole(case)
            if most_tokens(request.messages) <= self._most:
                answer = await self._model.ask(request, lambda reply: read(reply.text))
                return Opinion(case, answer.value)
            return Opinion(case, await self._conversed(case, read))
        except ModelError as error:
            return Opinion(case, (), error.kind, str(error))

    async def _conversed(self, case: Case, read: partial[tuple[Decided, ...]]) -> tuple[Decided, ...]:
        tools = attempt_tools({label: ShownAttempt(item.patch, item.turns) for label, item in case.labels.items()})
        opening = outlined(case, ", ".join(item.tool.name for item in tools))
        key = self._model.key(opening, *(item.rollout_id for item in case.labels.values()))
        kept = await self._model.recall(key)
        with suppress(UnusableReply):  # kept by another version of the reader: asked again
            if kept is not None:
                return read(kept)
        submitted: list[str] = []

        def submit(text: str) -> tuple[Decided, ...]:
            decided = read(text)
            submitted.append(text)
            return decided

        tool = Tool(SUBMIT, "Hand in a verdict on every suspicion, once, at the end.", audit_schema(case.ids))
        talk = await converse(self._model, opening, tools, tool, submit, self._bounds)
        await self._model.remember(key, submitted[-1])
        assert talk.value is not None  # `converse` returns with a value only
        return talk.value
