"""When a request is sent again, and after how long. The one place that decides it; neither library retries. Pure."""

from __future__ import annotations

from hashlib import sha256

FIRST = 1.0
"""Seconds before the second try; doubled for each further one."""
LONGEST = 60.0
LONGEST_ASKED = 300.0
"""Most seconds that an endpoint's Retry-After is waited for; who asks for more is not asked again in this run."""


def again(retryable: bool, tried: int, attempts: int, after: float | None) -> bool:
    """Whether a request that failed `tried` times is sent again."""
    return retryable and tried < attempts and (after is None or after <= LONGEST_ASKED)


def delay(tried: int, name: str, after: float | None = None) -> float:
    """Seconds to wait after `tried` (from 1) failed tries of the request called `name`.

    Exponential, times a factor from 0.5 to 1 that depends on the name and the try alone, so that requests which
    failed together do not come back together. What the endpoint asked for (`after`) is never undercut.
    """
    digest = sha256(f"{name}:{tried}".encode()).digest()
    share = 0.5 + digest[0] / 510
    own = min(LONGEST, FIRST * 2.0 ** (tried - 1)) * share
    return own if after is None else after + min(own, FIRST)
