"""From a question to the body of an HTTP request, and to the key under which its answer is stored."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from rubrics import jsonio
from rubrics.models.settings import ModelSettings
from rubrics.records.models import Request

FORMATS = ("json_schema", "json_object", "none")
"""Ways to ask for JSON, the strictest first; an endpoint that refuses one is asked in the next."""


def body(request: Request, settings: ModelSettings, form: int = 0) -> dict[str, Any]:
    """The body in the OpenAI form; `form` is the index in `FORMATS` of how JSON is asked for."""
    made: dict[str, Any] = {"model": settings.model, "messages": list(request.messages)}
    if request.tools:
        made["tools"] = [
            {
                "type": "function",
                "function": {"name": t.name, "description": t.description, "parameters": t.parameters},
            }
            for t in request.tools
        ]
    if request.schema is not None and FORMATS[form] == "json_schema":
        named = {"name": request.schema_name, "schema": request.schema, "strict": True}
        made["response_format"] = {"type": "json_schema", "json_schema": named}
    elif request.schema is not None and FORMATS[form] == "json_object":
        made["response_format"] = {"type": "json_object"}
    sampling = settings.sampling()
    if settings.seed is not None:  # the same seed would give every repetition the same answer
        sampling["seed"] = settings.seed + request.repeat
    return made | sampling


def key(request: Request, settings: ModelSettings, more: tuple[str, ...] = ()) -> str:
    """64 hex digits over everything that decides the answer; the purpose does not.

    Schemas go in with their properties in order: a model writes its answer in that order.
    """
    tools = [[t.name, t.description, jsonio.encoded(t.parameters).decode()] for t in request.tools]
    schema = None if request.schema is None else [request.schema_name, jsonio.encoded(request.schema).decode()]
    parts = [
        settings.model, settings.base_url, request.messages, tools, schema, settings.sampling(), request.repeat, more,
    ]  # fmt: skip
    return sha256(jsonio.dumps(parts).encode()).hexdigest()
