"""The one protocol of environments; backends implement it, stages use nothing else."""

from __future__ import annotations

from collections.abc import Collection
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
    limit: str | None = None
    """Limit that ended it: `time`, `output`, `memory`, `disk`, or `sandbox` for a command that broke its own sandbox;
    then what the command did is its own doing, not infra."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one rollout may use. A limit that is hit is a result (`CommandResult.limit`), never an `InfraError`."""

    memory: int = 2 << 30
    """Bytes of memory and swap, all processes together."""
    pids: int = 512
    """Processes and threads at once."""
    output: int = 8 << 20
    """Bytes of a command's output that are kept: its first quarter and the rest from its end."""
    drain: int = 256 << 20
    """Bytes of output after which the command is stopped."""
    file_size: int = 4 << 30
    """Bytes of the largest file that may be written."""
    disk: int = 2 << 30
    """Bytes that one rollout may write. In bubblewrap and the per-image mode they lie in memory and count as such."""
    files: int = 1 << 20
    """Files that one rollout may make."""
    cpus: float = 2.0
    """Processors' worth of time, all processes together."""
    free_disk: int = 256 << 20
    """Bytes that must be free where environments lie; with fewer nothing is started and no failure is believed."""


READ_LIMIT = 64 << 20
"""Bytes of a file that `Session.read` reads unless asked for fewer."""


class Session(Protocol):
    """An open environment of one rollout. Closing it leaves nothing behind."""

    rung: str
    """Rung of the rebuild ladder: `snapshot`, `image+patch`, `image+patch(3way)`, `image+patch(fuzz)`,
    `repository+patch`, ...; the bare name when no patch was put on. `(in part)` is added where the patch names binary
    files or submodules, whose content it does not hold: they were left out."""

    @property
    def image_digest(self) -> str | None:
        """Digest of the image or root file system it started from; null for a plain folder."""

    def run(self, command: str, timeout: float) -> CommandResult:
        """Run a shell command in the task's working folder. Raises `InfraError` when the environment broke."""

    def read(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """Content of a file, relative to the working folder or absolute.

        Raises `FileNotFoundError` where no regular file is, another `OSError` for one that has more than `limit` bytes
        or cannot be read, `InfraError` when the environment broke.
        """

    def write(self, path: str, content: bytes) -> None:
        """Write a file, making its folders.

        Raises `AttemptError` when it cannot be written in an attempt's state, `InfraError` in a task's start, and when
        the environment broke.
        """

    def close(self) -> None:
        """Remove everything that was opened. May be called twice."""


class Environment(Protocol):
    """A backend: docker, bubblewrap, or a bare process for trusted data."""

    name: str

    def open(self, task: Task, rollout: Rollout | None) -> Session:
        """Rebuild the state of a rollout (of the task's start when null).

        Raises `PatchRefused` when the rollout's patch is to blame, else `InfraError` naming the rungs that failed.
        """

    def close(self) -> None:
        """Remove what is kept between sessions. May be called twice."""


class Saving(Environment, Protocol):
    """An environment whose states can be kept."""

    def save(self, session: Session, owner: str, without: Collection[str] = ()) -> str:
        """Keep the state of an open session of a task's start; returns the name to open it by.

        `owner` is the folder of the store that names it from then on; `without`: variables of the environment whose
        values are not kept. Raises `InfraError`.
        """


class Backend(Saving, Protocol):
    """What implements environments."""

    def open(self, task: Task, rollout: Rollout | None, *, saved: str | None = None) -> Session:
        """See `Environment.open`; `saved` is entered instead of the task's own image and repository."""

    def stands(self, saved: str, task: Task) -> bool:
        """Whether a saved state is there, and made from what the task starts from now."""
