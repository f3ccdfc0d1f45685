"""The form of a documented measurement: the vocabulary that rules may use is made of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FactType = Literal["int", "float", "bool", "text", "list"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One measurement: what it is called, what it is, and what it means.

    A `list` is a sorted list of distinct strings. A value is null when its evidence is absent
    (no patch, no transcript), never 0 for unknown.
    """

    name: str
    type: FactType
    unit: str
    """`lines`, `files`, `turns`, `commands`, `share` (in [0, 1]), `yes/no`, `names`, `digest`, ..."""
    meaning: str
    """One sentence; says what is counted and what is not."""
