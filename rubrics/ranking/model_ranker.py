"""The ranker that works: one conversation per bout in a shared workspace, until a ranking is submitted."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import asdict, replace
from typing import Any

from rubrics import jsonio
from rubrics.agents.loop import Bounds, Conversation, converse
from rubrics.agents.threads import in_thread
from rubrics.environments.session import Environment
from rubrics.errors import InfraError, ModelError, UnusableReply
from rubrics.models.model import Model
from rubrics.prompting.sizes import most_tokens
from rubrics.ranking.bouts import Bout, Heard
from rubrics.ranking.model_prompt import digest_of, first_form, messages
from rubrics.ranking.model_reading import marks_of, reader
from rubrics.ranking.model_tools import Workspace
from rubrics.records.judgements import Ran
from rubrics.records.models import Request, Tool, Usage
from rubrics.replies.rankings import Round, ranking_schema

FORMS = ("outlines", "patches", "files")
"""What the first message holds of every attempt alike; the rest is opened by tools."""
SHARE = 3
"""The first message may take one part in so many of the model's room; the others are for the work."""


class AgentRanker:
    """Ranks in the environments that `environment` opens, at most `at_once` bouts at a time.

    Finished bouts are remembered by the model's cache, under the prompt and the digest of the workspace's image.
    """

    def __init__(
        self, model: Model, environment: Environment, max_prompt_tokens: int | None = None,
        bounds: Bounds | None = None, at_once: int = 2,
    ) -> None:  # fmt: skip
        self.name = f"agent:{model.name}"
        self._model = model
        self._environment = environment
        self._limit = None if max_prompt_tokens is None else max_prompt_tokens // SHARE
        self._bounds = bounds or Bounds()
        self._places = asyncio.Semaphore(at_once)

    async def rank(self, bout: Bout) -> Heard:
        """Marks, or a failure class. Never raises for what a reply or an environment did wrong."""
        nothing = Heard(self.name, prompt_digest=digest_of("agent"))
        try:
            async with self._places:
                workspace = await in_thread(lambda: Workspace(self._environment, bout), Workspace.close)
                try:
                    return await self._rank(bout, workspace, replace(nothing, rung=workspace.base.rung))
                finally:
                    await in_thread(workspace.close)
        except (ModelError, InfraError) as error:
            return replace(nothing, failure_class=error.kind, detail=str(error))

    async def _rank(self, bout: Bout, workspace: Workspace, heard: Heard) -> Heard:
        tools = workspace.tools(time.monotonic() + self._bounds.seconds)
        submit = _submit(bout)
        opening = self._opening(bout, (*(item.tool for item in tools), submit))
        bounds = jsonio.dumps(asdict(self._bounds))
        key = self._model.key(opening, "ranking", workspace.base.image_digest or "", bounds)
        if (kept := _recalled(bout, await self._model.recall(key))) is not None:
            return replace(heard, **kept)
        submitted = ""
        read = reader(bout, workspace.looks.ran)

        def accept(text: str) -> Round:
            nonlocal submitted
            said, submitted = read(text), text
            return said

        talk = await converse(self._model, opening, tools, submit, accept, self._bounds)
        assert talk.value is not None
        account = _account(talk)
        await self._model.remember(key, _kept(submitted, workspace.looks.ran, account))
        return replace(heard, **_fields(talk.value, account))

    def _opening(self, bout: Bout, tools: tuple[Tool, ...]) -> Request:
        made = first_form("agent", bout, FORMS, self._limit)
        if made is None:
            count = most_tokens(messages("agent", bout, FORMS[-1]))
            raise ModelError("too_long", f"about {count} tokens of first message; the limit is {self._limit}: raise it")
        return Request(made, tools, None, "ranking", bout.round, "rank")


def _submit(bout: Bout) -> Tool:
    return Tool("submit_ranking", "Submit the marks of all candidates; it ends the work.", ranking_schema(bout.labels))


def _account(talk: Conversation[Round]) -> dict[str, Any]:
    usage = talk.usage
    return {
        "model": talk.replies[-1].model, "calls": len(talk.replies), "cost": talk.cost,
        "usage": [usage.prompt, usage.cached, usage.completion],
    }  # fmt: skip


def _kept(submitted: str, ran: list[Ran], account: dict[str, Any]) -> str:
    """What is remembered: the submission as it came, the commands that it may point to, what it cost."""
    return json.dumps({"submitted": submitted, "ran": [[item.command, item.output] for item in ran], **account})


def _recalled(bout: Bout, text: str | None) -> dict[str, Any] | None:
    """What was remembered, read once more by the reader of today; null where it cannot be used."""
    if text is None:
        return None
    try:
        kept = jsonio.loads(text)
        ran = [Ran(command, output) for command, output in kept["ran"]]
        said = reader(bout, ran)(kept["submitted"])
    except (UnusableReply, ValueError, KeyError, TypeError):
        return None
    return _fields(said, {**kept, "calls": 0})


def _fields(said: Round, account: dict[str, Any]) -> dict[str, Any]:
    return {
        "marks": marks_of(said), "no_difference": said.no_clear_difference, "reason": said.reason,
        "model": account["model"], "calls": account["calls"], "usage": Usage(*account["usage"]),
        "cost": account["cost"],
    }  # fmt: skip
