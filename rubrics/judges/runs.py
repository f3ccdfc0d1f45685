"""Run criteria: commands in a rollout's own environment. Exit code 0 meets the criterion, others do not, but for those
by which a shell says that there was nothing to run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rubrics.environments.session import CommandResult, Session
from rubrics.records.rubrics import Criterion

TIMEOUT = 300.0
"""Seconds that one command may take."""
QUOTE = 300
NO_PROGRAM = (126, 127)
"""Exit codes of a shell for a program that cannot be run, or is not there."""


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """What one command came to."""

    criterion: Criterion
    value: float | None
    """1 where it ended with exit code 0, else 0: a limit that it hit is its own doing. Null where the environment has
    no such program: that says nothing of the rollout."""
    reason: str
    quote: str
    """Its last line of output that is not blank; empty without output."""


def run_criteria(session: Session, criteria: Sequence[Criterion], timeout: float = TIMEOUT) -> list[RunVerdict]:
    """The verdicts of criteria of method `run`, one after the other in one session. Raises `InfraError`."""
    return [_verdict(item, session.run(item.command or "false", timeout)) for item in criteria]


def _verdict(criterion: Criterion, result: CommandResult) -> RunVerdict:
    lines = [line.strip() for line in result.output.splitlines() if line.strip()]
    how = f"stopped: {result.limit} used up" if result.limit else f"exit code {result.exit_code}"
    reason = f"run: {criterion.command}: {how}"
    value = None if result.exit_code in NO_PROGRAM else 1.0 if result.exit_code == 0 else 0.0
    return RunVerdict(criterion, value, reason, lines[-1][:QUOTE] if lines else "")
