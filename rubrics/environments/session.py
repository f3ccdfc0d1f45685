"""The one protocol of environments; backends implement it, stages use nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Task


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What one command did."""

    exit_code: int | None
    """Null when the command was ended by its time limit or the environment broke."""
    output: str
    """Standard output and error as they came, decoded with replacement characters, cut at the output limit."""
    truncated: bool
    """Whether output was left out."""
    seconds: float
    timed_out: bool = False


class Session(Protocol):
    """An open environment of one rollout. Closing it leaves nothing behind."""

    rung: str
    """Rung of the rebuild ladder: `snapshot`, `image+patch`, `image+patch(3way)`, `image+patch(fuzz)`, `repository+patch`, ..."""

    def run(self, command: str, timeout: float) -> CommandResult:
        """Run a shell command in the task's working folder. Raises `InfraError` when the environment broke."""

    def read(self, path: str) -> bytes:
        """Content of a file, relative to the working folder or absolute. Raises `FileNotFoundError`, `InfraError`."""

    def write(self, path: str, content: bytes) -> None:
        """Write a file, making its folders. Raises `InfraError`."""

    def close(self) -> None:
        """Remove everything that was opened. May be called twice."""


class Environment(Protocol):
    """A backend: docker, bubblewrap, or a bare process for trusted data."""

    name: str

    def open(self, task: Task, rollout: Rollout | None) -> Session:
        """Rebuild the state of a rollout (of the task's start when null). Raises `InfraError` naming the rung that failed."""
