"""A reply as it lies in the cache, and back. Pure."""

from __future__ import annotations

from rubrics import jsonio
from rubrics.records.models import Call, Reply, Usage


def to_bytes(reply: Reply) -> bytes:
    usage = reply.usage
    return jsonio.encoded(
        {
            "text": reply.text,
            "calls": [{"call_id": c.call_id, "name": c.name, "arguments": c.arguments} for c in reply.calls],
            "finish": reply.finish,
            "model": reply.model,
            "usage": {"prompt": usage.prompt, "cached": usage.cached, "completion": usage.completion},
            "cost": reply.cost,
            "seconds": reply.seconds,
        }
    )


def from_bytes(data: bytes) -> Reply | None:
    """The reply, marked as one of the cache; null when the bytes are none."""
    try:
        fields = jsonio.loads(data)
        calls = tuple(Call(**call) for call in fields.pop("calls"))
        return Reply(**{**fields, "calls": calls, "usage": Usage(**fields["usage"]), "from_cache": True})
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
