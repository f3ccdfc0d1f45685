"""One line of the closing account: what was left out, merged, overruled or doubted, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Subject = Literal["file", "row", "task", "rollout", "outcome", "rubric", "run"]


@dataclass(frozen=True, slots=True)
class CensusLine:
    stage: str
    """`ingest`, `facts`, `synthesize`, `score` or `reward`."""
    subject: Subject
    """What is counted."""
    kind: str
    """A short closed word: `unreadable`, `no_task`, `merged`, `duplicate`, `disagreement`, ..."""
    place: str
    """File (relative to its dump), task or rollout it concerns; empty for a whole run."""
    detail: str
    """For people: the value found, the value wanted, the remedy."""
    count: int = 1
