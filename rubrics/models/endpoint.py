"""The only home of litellm and openai: one request to one endpoint, by either, without retries of theirs.

Both are imported at the first call. Neither then touches the network on its own, reads a `.env`, or reports to anyone.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import warnings
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit

from rubrics import jsonio
from rubrics.errors import UsageError
from rubrics.models import answers
from rubrics.models.exceptions import failure_of, secrets_of
from rubrics.models.failures import Failure, refuses_stream_options
from rubrics.models.prices import Price, from_map, per_million
from rubrics.models.settings import ModelSettings


class Endpoint(Protocol):
    """What answers. Used from one event loop."""

    async def send(self, body: Mapping[str, Any], data: bytes) -> Mapping[str, Any]:
        """The answer in the OpenAI form, whole. `data` is the body as JSON. Raises `Failure`."""

    async def close(self) -> None:
        """Close connections."""


def open_endpoint(settings: ModelSettings) -> Endpoint:
    """The endpoint that the settings name; nothing is imported or sent yet. Raises `UsageError` without a key."""
    key = _key(settings)
    return Hosted(settings, key) if settings.base_url is None else Compatible(settings, key)


def _key(settings: ModelSettings) -> str | None:
    name = settings.api_key_env or "OPENAI_API_KEY"
    key = os.environ.get(name, "").strip()
    if key and (settings.api_key_env or settings.base_url):
        return key
    if settings.api_key_env or (settings.base_url and not settings.loopback):
        raise UsageError(f"the environment variable {name} holds no key for the model; set it, or name another")
    return None


class Compatible:
    """An OpenAI-compatible endpoint, through the openai SDK on its aiohttp transport.

    The SDK's plain `post` with ready bytes is used: its typed `create` doubles the CPU of a call (1.44 against 0.70 ms
    for 20 KB, measured together).
    """

    def __init__(self, settings: ModelSettings, key: str | None) -> None:
        self._settings, self._key = settings, key
        self._client: Any = None
        self._secrets = secrets_of(key, os.environ)
        self._stream_options = True

    async def send(self, body: Mapping[str, Any], data: bytes) -> Mapping[str, Any]:
        try:
            return await self._once(body, data)
        except Failure as failure:
            if not (self._settings.stream and self._stream_options and refuses_stream_options(failure)):
                raise
        self._stream_options = False
        return await self._once(body, data)

    async def _once(self, body: Mapping[str, Any], data: bytes) -> Mapping[str, Any]:
        client = self._opened()
        try:
            async with asyncio.timeout(self._settings.timeout):
                if self._settings.stream:
                    return await self._streamed(client, body)
                answered = await client.post("/chat/completions", content=data, cast_to=bytes)
                return answers.completion(answered, self._secrets)
        except (Failure, asyncio.CancelledError):
            raise
        except Exception as error:
            raise failure_of(error, str(self._settings.base_url), self._settings.timeout, self._secrets) from None

    async def _streamed(self, client: Any, body: Mapping[str, Any]) -> Mapping[str, Any]:
        import openai

        asked = {**body, "stream": True}
        if self._stream_options:
            asked["stream_options"] = {"include_usage": True}
        stream = await client.post(
            "/chat/completions",
            content=jsonio.encoded(asked),
            cast_to=object,
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        async with stream:
            if "event-stream" not in stream.response.headers.get("content-type", ""):
                return answers.completion(await stream.response.aread(), self._secrets)
            return answers.fold([chunk async for chunk in stream if isinstance(chunk, dict)], self._secrets)

    def _opened(self) -> Any:
        if self._client is None:
            import openai

            _quiet("openai", "httpx", "httpx2", "httpcore")
            settings = self._settings
            # A proxy of the environment is not for what runs on this machine.
            transport = openai.DefaultAioHttpClient(trust_env=not settings.loopback)
            self._client = openai.AsyncOpenAI(
                base_url=settings.base_url,
                api_key=self._key or "none",
                max_retries=0,
                timeout=settings.timeout,
                http_client=transport,
            )
        return self._client

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()


class Hosted:
    """A provider that litellm resolves by the model's name. Never streamed: litellm then puts the asked name in the
    place of the one that answered, and drops refusals."""

    def __init__(self, settings: ModelSettings, key: str | None) -> None:
        self._settings, self._key = settings, key
        self._secrets = secrets_of(key, os.environ)

    async def send(self, body: Mapping[str, Any], data: bytes) -> Mapping[str, Any]:
        settings = self._settings
        own: dict[str, Any] = {"num_retries": 0, "max_retries": 0, "timeout": settings.timeout, "api_key": self._key}
        try:
            litellm = await asyncio.to_thread(_litellm)
            async with asyncio.timeout(settings.timeout):
                answered = (await litellm.acompletion(**body, **own)).model_dump()
                return answers.without_keys(answers.no_error(answered, self._secrets), self._secrets)
        except (Failure, asyncio.CancelledError):
            raise
        except Exception as error:
            raise failure_of(error, settings.model, settings.timeout, self._secrets) from None

    async def close(self) -> None:
        if "litellm" in sys.modules:
            await sys.modules["litellm"].close_litellm_async_clients()


def find_price(settings: ModelSettings) -> Price | None:
    """The settings' own price, else that of litellm's local map; null when neither knows.

    Behind a base URL the map is believed only where litellm knows the host: another host has other prices.
    """
    if settings.price is not None:
        return per_million(settings.price)
    if settings.loopback:
        return None
    litellm, name = _litellm(), settings.model
    try:
        if settings.base_url is not None and urlsplit(settings.base_url).hostname != "api.openai.com":
            name = f"{litellm.get_llm_provider('no-such-model', api_base=settings.base_url)[1]}/{name}"
        known = litellm.get_model_info(name)["key"]
    except Exception:  # litellm raises a plain Exception for what it does not know
        return None
    return from_map(litellm.model_cost.get(known))


def _litellm() -> Any:
    os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", LITELLM_MODE="PRODUCTION")
    # What pydantic says of types of litellm's own concerns nobody who runs this.
    warnings.filterwarnings("ignore", message=r".*`ReadOnly` qualifier", category=UserWarning)
    import litellm

    _quiet("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai")
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    for hooks in ("callbacks", "success_callback", "failure_callback", "input_callback"):
        setattr(litellm, hooks, [])
    # Sampling is stored as it was asked for: a field that the provider does not know is refused, not dropped.
    litellm.drop_params = False
    return litellm


def _quiet(*names: str) -> None:
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL)
