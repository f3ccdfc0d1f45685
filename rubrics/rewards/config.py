"""The configuration of the reward, and its identity. `defaults.toml` says what each value means."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from hashlib import blake2b

from rubrics.records.rubrics import KINDS

ENGINE_VERSION = "2"
"""Raised whenever the same inputs would give other numbers."""

MEASURES = ("turns", "input_tokens", "output_tokens")
TOKEN_FLAGS = ("malformed_call", "invalid_tool_name", "bad_arguments", "stray_markup")


@dataclass(frozen=True, slots=True)
class LengthConfig:
    """Length penalty (method 2.5)."""

    penalty: float = 0.2
    measures: tuple[str, ...] = MEASURES
    quantile: float = 0.30
    tolerance: float = 0.0
    saturation: float = 1.0
    exponent: float = 1.5
    gate: float = 0.5


@dataclass(frozen=True, slots=True)
class GarConfig:
    """Redistribution (method 2.8)."""

    cap: float = 1.5


@dataclass(frozen=True, slots=True)
class QualityConfig:
    """Quality factors (method 3)."""

    first_best: float = 1.0
    first_other: float = 0.9
    second_best: float = 0.85
    second_worst: float = 0.40
    third: float = 0.20


@dataclass(frozen=True, slots=True)
class TokenConfig:
    """Token weights (method 2.10)."""

    flags: tuple[str, ...] = TOKEN_FLAGS
    kappa: float = 2.0
    beta_min: float = 0.5
    alpha_max: float = 2.0


@dataclass(frozen=True, slots=True)
class RewardConfig:
    """What decides the numbers beside the inputs. Checked by `rewards/settings.py` where a person wrote it."""

    factors: tuple[str, ...] = KINDS
    routing: str = "task"
    grs_from: float = 0.8
    estimator: str = "dr_grpo"
    std_eps: float = 1e-6
    length: LengthConfig = field(default_factory=LengthConfig)
    gar: GarConfig = field(default_factory=GarConfig)
    quality: QualityConfig = field(default_factory=QualityConfig)
    tokens: TokenConfig = field(default_factory=TokenConfig)

    def content(self) -> str:
        """Every value as JSON, equal for equal configurations."""
        return json.dumps(asdict(self), sort_keys=True)

    def digest(self) -> str:
        """128-bit digest of the resolved values; stands in every row."""
        return blake2b(self.content().encode(), digest_size=16).hexdigest()
