"""The configuration of the reward, and its identity."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import blake2b

from rubrics.records.rubrics import KINDS

ENGINE_VERSION = "1"
"""Raised whenever the same inputs would give other numbers."""


@dataclass(frozen=True, slots=True)
class RewardConfig:
    """What decides the numbers beside the inputs."""

    factors: tuple[str, ...] = KINDS
    """Scores that the product multiplies, set once for the whole run (method 2.4)."""

    def digest(self) -> str:
        """128-bit digest; stands in every row."""
        return blake2b(json.dumps(asdict(self), sort_keys=True).encode(), digest_size=16).hexdigest()
