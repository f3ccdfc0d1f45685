"""One command that reached for something beyond the task's own tree."""

from __future__ import annotations

from dataclasses import dataclass

from rubrics.audit.steps import Step


@dataclass(frozen=True, slots=True)
class Reach:
    step: Step
    pattern: str
    prints: bool = False
    """Whether its output holds text of what it reached."""
    takes: tuple[str, ...] | None = None
    """Files that it writes from there; `("",)` for the whole working tree, null for none."""
