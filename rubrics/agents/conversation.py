"""What a conversation with tools is made of: the tools with their handlers, its bounds, and what was said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from rubrics.records.models import Reply, Tool, Usage, cost_of, usage_of

T = TypeVar("T")
Handler = Callable[[Mapping[str, Any]], str]
COMMAND_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Handled:
    """A tool with what carries it out: arguments in, text out. Raises `ToolRefusal` for what the model did wrong.

    It blocks a thread of its own and needs a limit of time of its own: it is waited for.
    """

    tool: Tool
    handle: Handler


class ToolRefusal(Exception):
    """What the model asked of a tool cannot be done; the message is shown to it."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a conversation may go."""

    turns: int = 40
    seconds: float = 1800.0
    faults: int = 4
    """Calls that cannot be carried out and submissions that are refused, together, before it is given up."""
    characters: int = 400_000
    """Of all messages together, about 100,000 to 160,000 tokens; beyond it the conversation is `context_too_long`."""
    tokens: int = 4_000_000
    """Of all requests and answers together, as the endpoint counts them; where it does not, only turns count."""
    calls: int = 16
    """Calls of one turn that are carried out."""
    command_seconds: float = COMMAND_SECONDS
    """Time of one command in an environment; whoever makes the tools hands it to them."""


@dataclass(slots=True)
class Conversation(Generic[T]):
    """What was said and what it came to. `messages` holds all of it, in the OpenAI form."""

    messages: list[Mapping[str, Any]]
    value: T | None = None
    replies: list[Reply] = field(default_factory=list)

    @property
    def usage(self) -> Usage:
        """Tokens of all turns; null where a turn did not say."""
        return usage_of(self.replies)

    @property
    def cost(self) -> float | None:
        """Dollars of all turns; null when one is not known."""
        return cost_of(self.replies)
