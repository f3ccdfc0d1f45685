"""One question sent until an answer came: rates, width, budget, retries, ways to ask for JSON, the account."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from secrets import token_hex

from rubrics import jsonio
from rubrics.errors import ModelError, UnusableReply
from rubrics.models import bodies
from rubrics.models.answers import reply as read_reply
from rubrics.models.budget import Budget
from rubrics.models.cache import Cache, Spent
from rubrics.models.clock import Clock
from rubrics.models.counters import Counters
from rubrics.models.endpoint import Endpoint, find_price
from rubrics.models.failures import Failure, refuses_format
from rubrics.models.limits import Gate
from rubrics.models.names import answers_for
from rubrics.models.prices import Price, cost
from rubrics.models.retries import LONGEST_ASKED, again, delay
from rubrics.models.settings import ModelSettings
from rubrics.models.tokens import tokens
from rubrics.records.models import Reply, Request, Usage

GUESSED_ANSWER = 2000
"""Tokens reserved for an answer when no limit of tokens is set."""

SEE_OTHERS = 1.0
"""Seconds between two looks at what other processes spent."""


class Sender:
    """Used from the client's loop only."""

    def __init__(self, settings: ModelSettings, endpoint: Endpoint, cache: Cache | None, clock: Clock) -> None:
        self.settings, self.endpoint, self.counters = settings, endpoint, Counters()
        self._price: asyncio.Future[Price | None] | None = None
        self._cache, self._clock, self._session = cache, clock, token_hex(8)
        spent, self._last = cache.spent() if cache is not None else (0.0, 0)
        self.budget = Budget(settings.max_cost, spent)
        self.gate = Gate(settings.concurrency, settings.requests_per_minute, settings.tokens_per_minute, clock)
        self._form = 0
        self._answering = ""
        self._seen = clock.now()

    async def send(self, request: Request) -> tuple[Reply, UnusableReply | None, int]:
        """The reply, what speaks against it, and the requests that it took. Raises `ModelError`."""
        sent = 0
        tried = 0
        while True:
            form, sent = self._form, sent + 1
            try:
                reply, complaint = await self._once(request, form)
                return reply, complaint, sent
            except Failure as failure:
                if request.schema is not None and form + 1 < len(bodies.FORMATS) and refuses_format(failure):
                    self._form = max(self._form, form + 1)
                    self.counters.reformed += 1
                    continue
                tried += 1
                if not again(failure.retryable, tried, self.settings.attempts, failure.after):
                    tries = f" ({tried} tries)" if tried > 1 else ""
                    raise ModelError(failure.kind, f"{failure.message}{tries}", sent) from None
                self.counters.retried += 1
                await self._clock.sleep(delay(tried, bodies.key(request, self.settings), failure.after))

    async def _once(self, request: Request, form: int) -> tuple[Reply, UnusableReply | None]:
        body = bodies.body(request, self.settings, form)
        data = jsonio.encoded(body)
        prompt, made = tokens(data), self.settings.most_tokens or GUESSED_ANSWER
        price = await self._priced()
        estimate = cost(price, Usage(prompt, 0, made))
        self._see_others()
        await self.budget.reserve(estimate or 0.0)
        item = Spent(0.0, self.settings.model, request.purpose, "", estimate=estimate)
        spent: Spent | None = None
        sent = False
        try:
            async with self.gate.passing(prompt + made):
                sent = True
                reply, complaint = await self._timed(body, data, price)
            self.gate.used(prompt + made, (reply.usage.prompt or prompt) + (reply.usage.completion or made))
            usage = reply.usage
            spent = replace(
                item, kind=complaint.kind if complaint else "ok", prompt=usage.prompt, cached=usage.cached,
                completion=usage.completion, cost=reply.cost,
            )  # fmt: skip
        except Failure as failure:
            if failure.perhaps_paid:
                spent = replace(item, kind=failure.kind)
            raise
        except asyncio.CancelledError:
            spent = replace(item, kind="given_up") if sent else None
            raise
        finally:
            self._account(estimate or 0.0, spent)
        if complaint is None or reply.model:
            self._check_name(reply)
        return reply, complaint

    async def _priced(self) -> Price | None:
        """Looked up once, at the first call: the library that knows prices takes seconds to import."""
        if self._price is None:
            self._price = asyncio.ensure_future(asyncio.to_thread(find_price, self.settings))
        return await asyncio.shield(self._price)

    async def _timed(
        self, body: dict[str, object], data: bytes, price: Price | None
    ) -> tuple[Reply, UnusableReply | None]:
        began, started = time.perf_counter(), self._clock.now()
        self.counters.requests += 1
        try:
            answer = await self.endpoint.send(body, data)
        except Failure as failure:
            if failure.status == 429 and failure.retryable:
                waited_for = failure.after is not None and failure.after <= LONGEST_ASKED
                self.gate.refused(started, failure.after if waited_for else None)
            raise
        self.gate.answered()
        reply, complaint = read_reply(answer, price, time.perf_counter() - began)
        self.counters.count(reply)
        return reply, complaint

    def _account(self, estimate: float, spent: Spent | None) -> None:
        dollars = 0.0
        if spent is not None:
            dollars = (spent.cost if spent.cost is not None else spent.estimate) or 0.0
            if self._cache is not None:
                self._cache.spend(self._session, [replace(spent, at=time.time())])
        self.budget.settle(estimate, dollars)

    def _see_others(self) -> None:
        """What other processes spent since; looked up once in a while."""
        now = self._clock.now()
        if self._cache is not None and self.settings.max_cost is not None and now >= self._seen + SEE_OTHERS:
            self._seen = now
            dollars, self._last = self._cache.spent(self._session, self._last)
            self.budget.spent += dollars

    def _check_name(self, reply: Reply) -> None:
        """The model that answered is the one asked for, and always the same one."""
        if reply.model and reply.model == self._answering:
            return
        settings = self.settings
        if not answers_for(settings.model, reply.model, settings.answers_as):
            raise ModelError(
                "wrong_model",
                f"asked {settings.model!r}, and {reply.model!r} answered; name the model as the endpoint does, or "
                "list its other name (answers_as)",
            )
        if not self._answering:
            place = f"{settings.model} at {settings.base_url or 'its provider'}"
            self._answering = self._cache.answering(place, reply.model) if self._cache is not None else reply.model
        if reply.model != self._answering:
            raise ModelError(
                "wrong_model",
                f"{self._answering!r} answered before and now {reply.model!r}: two judges in one store; name the "
                "version itself as the model",
            )
