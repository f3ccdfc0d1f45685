"""What a client has done, for the census of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from rubrics.records.models import Reply


@dataclass(slots=True)
class Counters:
    """Counts of one client; read at any time, written on its loop only."""

    requests: int = 0
    """Requests sent."""
    answered: int = 0
    """Replies that came, usable or not."""
    from_cache: int = 0
    """Questions answered without a request."""
    retried: int = 0
    """Requests sent again because the transport failed."""
    reformed: int = 0
    """Requests sent again because the endpoint does not know the way in which JSON was asked for."""
    unusable: Counter[str] = field(default_factory=Counter)
    """Replies that a check or a reader refused, by kind."""
    failed: Counter[str] = field(default_factory=Counter)
    """Questions that ended in a `ModelError`, by kind."""
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    """Tokens of the replies that came, as far as the endpoint said."""
    cost: float | None = 0.0
    """Dollars; null as soon as one reply's cost is not known."""

    def count(self, reply: Reply) -> None:
        """One reply came."""
        self.answered += 1
        self.prompt += reply.usage.prompt or 0
        self.cached += reply.usage.cached or 0
        self.completion += reply.usage.completion or 0
        self.cost = None if self.cost is None or reply.cost is None else self.cost + reply.cost
