"""Outcomes: what the tests said of a rollout, one record per source that says something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

OutcomeName = Literal["passed", "failed", "infra", "truncated", "unknown"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one source says of one rollout."""

    rollout_id: str
    source: str
    """`exit` | `harness:<path>` | `file:<digest>` | `recorded:<reader>` | `run:<k>`."""
    outcome: OutcomeName
    """`passed`, `failed`, `infra`, `truncated` or `unknown` (method 2.1)."""
    detail: str | None = None
    """Why, in a few words: an exit status, a class of failure."""
    tests: str | None = None
    """JSON object {test id: status}; ids and statuses only, never the log."""
    log_digest: str | None = None
    rung: str | None = None
    """Rung of the rebuild ladder the tests ran on; null for a recorded outcome."""
