"""A reply as it lies in the cache, and back. Pure."""

from __future__ import annotations

from dataclasses import asdict

from rubrics import jsonio
from rubrics.records.models import Call, Reply, Usage


def to_bytes(reply: Reply) -> bytes:
    return jsonio.encoded({**asdict(reply), "from_cache": True})


def from_bytes(data: bytes) -> Reply | None:
    """The reply, marked as one of the cache; null when the bytes are none."""
    try:
        fields = jsonio.loads(data)
        calls = tuple(Call(**call) for call in fields.pop("calls"))
        return Reply(**{**fields, "calls": calls, "usage": Usage(**fields["usage"])})
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
