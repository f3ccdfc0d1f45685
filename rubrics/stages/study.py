"""Which attempts of a task are studied. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rubrics.digests import digest128

STUDIED_OUTCOMES = frozenset({"passed", "failed", "truncated"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rollout that could be studied."""

    rollout_id: str
    outcome: str
    """Chosen outcome; see `rubrics.outcomes`."""
    content: str | None
    """Digest of the normalised patch: equal patches teach the same."""
    empty: bool
    """Changed nothing: it teaches little."""


def choose_studied(candidates: Sequence[Candidate], count: int, seed: int) -> tuple[Candidate, ...]:
    """At most `count` attempts, passes and failures balanced, in a seeded order that no path decides.

    Only rollouts whose outcome is passed, failed or truncated. Attempts with a content of their own
    come before repeats of one, and attempts that changed something before those that did not. Where
    one side has too few, the other fills up.
    """
    known = [candidate for candidate in candidates if candidate.outcome in STUDIED_OUTCOMES]
    passes = _ordered([item for item in known if item.outcome == "passed"], seed)
    failures = _ordered([item for item in known if item.outcome != "passed"], seed)
    from_passes = min(len(passes), max((count + 1) // 2, count - len(failures)))
    from_failures = min(len(failures), count - from_passes)
    return (*passes[:from_passes], *failures[:from_failures])


def _ordered(candidates: list[Candidate], seed: int) -> list[Candidate]:
    shuffled = sorted(candidates, key=lambda item: digest128([seed, item.rollout_id]))
    seen: set[str | None] = set()
    keys = []
    for candidate in shuffled:
        keys.append((candidate.content in seen, candidate.empty))
        seen.add(candidate.content)
    order = sorted(range(len(shuffled)), key=lambda index: (keys[index], index))
    return [shuffled[index] for index in order]
