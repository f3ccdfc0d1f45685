"""Which model is asked, where, how, and how much it may cost: one frozen value, checked when it is made."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from rubrics import jsonio
from rubrics.errors import UsageError

SAMPLING = ("temperature", "top_p", "max_tokens", "seed")
OWN_FIELDS = frozenset(("model", "messages", "tools", "response_format", "stream", "stream_options", *SAMPLING))
"""Fields of the request's body that the client fills in; `extra` may not name them."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Raises `UsageError` for what cannot be meant. Holds no secret: the key stays in the environment."""

    model: str
    """As the provider names it. With a base URL it is sent as it is; without one litellm resolves it, so the name
    starts with the provider where litellm needs it (`anthropic/...`)."""
    base_url: str | None = None
    """Address of an OpenAI-compatible endpoint, up to and with `/v1`; null: the model's own provider."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key; null: `OPENAI_API_KEY`, or what litellm looks for."""
    temperature: float | None = 0.0
    """Null: not sent, for models that refuse it."""
    top_p: float | None = None
    max_tokens: int | None = None
    """Most tokens of an answer; null: the endpoint's own limit."""
    seed: int | None = None
    timeout: float = 600.0
    """Seconds for one request, from sending to the last byte."""
    stream: bool = False
    """Let the answer come in parts; behind a base URL only. The reply is the same."""
    concurrency: int = 32
    """Most requests under way at once."""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    attempts: int = 5
    """Times that one request is sent when the transport fails."""
    asks: int = 2
    """Times that one question is asked when the reply cannot be used."""
    max_cost: float | None = None
    """Dollars, over everything the cache's account of spending holds."""
    price: tuple[float, float, float] | None = None
    """Dollars per million tokens: input, output, input served from the provider's cache; null: litellm's local map."""
    answers_as: tuple[str, ...] = ()
    """Further names under which the model may answer (a deployment's, an alias's)."""
    extra: tuple[tuple[str, Any], ...] = ()
    """Further fields of the request's body, as pairs of name and JSON value."""

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise UsageError("the model's name is empty; name one, for instance --model gpt-4o-mini")
        _check_address(self.base_url)
        if self.api_key_env is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", self.api_key_env):
            raise UsageError("api_key_env is no name of an environment variable; give the name, never the key itself")
        _within("temperature", self.temperature, 0.0, 2.0)
        _within("top_p", self.top_p, 0.0, 1.0)
        _within("max_cost", self.max_cost, 0.0, math.inf)
        _within("timeout", self.timeout, 1e-3, 86400.0)
        for name in ("max_tokens", "concurrency", "requests_per_minute", "tokens_per_minute", "attempts", "asks"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
                raise UsageError(f"{name} is {value!r}; give a whole number from 1")
        for dollars in self.price or ():
            _within("price", dollars, 0.0, math.inf)
        if self.price is not None and len(self.price) != 3:
            raise UsageError(f"price has {len(self.price)} numbers; give input, output and cached dollars per million")
        _check_extra(self.extra)

    def sampling(self) -> dict[str, Any]:
        """What decides how the answer is drawn, as it is sent: for provenance and for the cache's key."""
        named = {name: getattr(self, name) for name in SAMPLING}
        return {name: value for name, value in named.items() if value is not None} | dict(self.extra)

    @property
    def most_tokens(self) -> int | None:
        """Most tokens of an answer, under either of the names that endpoints know."""
        named = dict(self.extra).get("max_completion_tokens")
        return self.max_tokens or (named if isinstance(named, int) else None)

    @property
    def loopback(self) -> bool:
        """The endpoint runs on this machine."""
        host = urlsplit(self.base_url or "").hostname or ""
        try:
            return host == "localhost" or ip_address(host).is_loopback
        except ValueError:
            return False


def _check_address(url: str | None) -> None:
    if url is None:
        return
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("base_url is no address; give one such as http://127.0.0.1:8000/v1")
    if parts.username or parts.password:
        raise UsageError("base_url holds a user or password; put the key into an environment variable (api_key_env)")
    if parts.query or parts.fragment:
        raise UsageError("base_url holds a query; end it with its path (/v1), and name a key's variable (api_key_env)")


def _within(name: str, value: float | None, least: float, most: float) -> None:
    if value is None:
        return
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not good or not least <= value <= most:
        raise UsageError(f"{name} is {value!r}; give a number from {least:g}{f' to {most:g}' if most < 1e9 else ''}")


def _check_extra(extra: tuple[tuple[str, Any], ...]) -> None:
    for name, value in extra:
        if name in OWN_FIELDS:
            raise UsageError(f"extra names {name!r}, which has a setting of its own; use that")
        try:
            jsonio.encoded(value)
        except (TypeError, ValueError):
            raise UsageError(f"the extra field {name!r} is no JSON value") from None
