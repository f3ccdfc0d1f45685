"""What is asked of a model and what it answers: the values that pass between prompts, client and readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of the arguments, an object."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the model made of a tool."""

    call_id: str
    name: str
    arguments: str
    """As written: not yet parsed, perhaps no JSON."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer, or of several added up; null where the endpoint did not say."""

    prompt: int | None = None
    cached: int | None = None
    """Part of `prompt` that the provider served from its prefix cache."""
    completion: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One question. Two requests with equal content have one entry in the cache."""

    messages: tuple[Mapping[str, Any], ...]
    """Chat messages in the OpenAI form; the part that is the same for a task stands first."""
    tools: tuple[Tool, ...] = ()
    schema: Mapping[str, Any] | None = None
    """JSON schema that the answer's text has to satisfy; null: free text, or calls of tools."""
    schema_name: str = "answer"
    repeat: int = 0
    """Index of the repetition: the same question asked again is a question of its own."""
    purpose: str = ""
    """`judge`, `author`, `rank`, `audit`, `probe`: for the account of costs; no part of the cache's key."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the endpoint answered, as it came."""

    text: str
    calls: tuple[Call, ...]
    finish: str | None
    """`stop`, `length`, `tool_calls`, `content_filter`, ..."""
    model: str
    """The model that answered, by its own word."""
    usage: Usage
    cost: float | None
    """In US dollars; null when the price of the model is not known."""
    seconds: float
    from_cache: bool = False
    """Nothing was asked: `usage` and `cost` are those of the first time."""


def usage_of(replies: Sequence[Reply]) -> Usage:
    """Tokens of several replies; null where one does not say."""
    return Usage(*(_sum([getattr(reply.usage, item.name) for reply in replies]) for item in fields(Usage)))


def cost_of(replies: Sequence[Reply]) -> float | None:
    """Dollars of several replies; null when one is not known."""
    total: float | None = _sum([reply.cost for reply in replies])
    return total


def _sum(values: list[Any]) -> Any:
    return None if None in values else sum(values)


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """A reply that could be used, and what it says."""

    value: T
    reply: Reply
    calls: int
    """Requests really sent for it: 0 from the cache, more than 1 after retries or unusable replies."""
