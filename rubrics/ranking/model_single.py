"""The ranker that asks once: task, every patch and what is known of every attempt in one prompt."""

from __future__ import annotations

from collections.abc import Callable

from rubrics.errors import ModelError
from rubrics.models.model import Model
from rubrics.prompting.sizes import most_tokens
from rubrics.ranking.bouts import Bout, Heard
from rubrics.ranking.model_prompt import digest_of, first_form, messages
from rubrics.ranking.model_reading import marks_of, reader
from rubrics.records.models import Reply, Request
from rubrics.replies.rankings import Round, ranking_schema

FORMS = ("transcripts", "outlines")
"""Of every attempt alike: whole transcripts where they fit, else their outlines. Patches are never cut."""


class SingleRanker:
    """Asks `model` once per bout. What does not fit into `max_prompt_tokens` (null: no limit is known), not even with
    outlines of the transcripts, is refused as `too_long`."""

    def __init__(self, model: Model, max_prompt_tokens: int | None = None) -> None:
        self.name = f"single:{model.name}"
        self._model = model
        self._limit = max_prompt_tokens

    async def rank(self, bout: Bout) -> Heard:
        """Marks, or a failure class. Never raises for what a reply did wrong."""
        request = self.request(bout)
        digest = digest_of("single")
        if request is None:
            count = most_tokens(messages("single", bout, FORMS[-1]))
            detail = f"about {count} tokens of prompt; the limit is {self._limit}: raise it, or let an agent rank"
            return Heard(self.name, failure_class="too_long", detail=detail, prompt_digest=digest)
        try:
            answer = await self._model.ask(request, _text_reader(reader(bout)))
        except ModelError as error:
            return Heard(self.name, failure_class=error.kind, detail=str(error), prompt_digest=digest)
        said, reply = answer.value, answer.reply
        return Heard(
            self.name, marks_of(said), said.no_clear_difference, said.reason, model=reply.model, prompt_digest=digest,
            calls=answer.calls, usage=reply.usage, cost=reply.cost,
        )  # fmt: skip

    def request(self, bout: Bout) -> Request | None:
        """What is sent; null where it does not fit."""
        made = first_form("single", bout, FORMS, self._limit)
        if made is None:
            return None
        return Request(made, (), ranking_schema(bout.labels), "ranking", bout.round, "rank")


def _text_reader(read: Callable[[str], Round]) -> Callable[[Reply], Round]:
    return lambda reply: read(reply.text)
