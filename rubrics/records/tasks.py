"""Tasks, and the sealed text that may never reach a rubric writer or a judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn


class Sealed:
    """Text that gives an answer away: a reference patch, hidden tests, hints, a log of hidden tests.

    It cannot be rendered: `str`, formatting, `repr`, iteration, comparison with text and pickling
    all fail or show nothing, so a template or a rule that meets one cannot leak it. Only a stage
    that runs tests calls `open_for(purpose)`.
    """

    __slots__ = ("__text",)

    PURPOSES = frozenset({"store", "tests", "audit"})

    def __init__(self, text: str) -> None:
        self.__text = text

    def open_for(self, purpose: str) -> str:
        """The text itself. `purpose` is one of `PURPOSES`; anything else is a programming error."""
        if purpose not in self.PURPOSES:
            raise ValueError(f"sealed text opened for {purpose!r}; allowed: {sorted(self.PURPOSES)}")
        return self.__text

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("sealed text cannot be rendered; only a stage that runs tests may open it")

    __str__ = __format__ = __iter__ = __len__ = __getitem__ = __reduce__ = _refuse

    def __repr__(self) -> str:
        return "<sealed>"


@dataclass(frozen=True, slots=True)
class Task:
    """One task as rubric writers and judges may see it. What is sealed lives in `SealedTask`."""

    task_id: str
    """Name of the task, for instance `owner__repo-123`."""
    repo: str | None
    """Name of the repository, for instance `owner/repo`."""
    base_commit: str | None
    """Commit that attempts start from."""
    spec: str | None
    """What the attempt was asked to do, in the task's own words."""
    repository: str | None = None
    """Archive, folder or git bundle of the repository at base, with digest; null when not given."""
    image: str | None = None
    """Container image that the attempt ran in."""
    recipe: str | None = None
    """JSON: base image, repository and packages from which an image can be built."""
    workdir: str | None = None
    """Folder of the repository inside the image."""
    test_command: str | None = None
    """Shell command that runs the tests."""
    test_report: str | None = None
    """Path or glob, from the working folder, of JUnit XML that the command writes; null: its output is read."""
    fail_to_pass: tuple[str, ...] = ()
    """Ids of tests that fail at base and must pass. Ids only: their text is sealed."""
    pass_to_pass: tuple[str, ...] = ()
    """Ids of tests that pass at base and must still pass."""
    source: str = ""
    """File that the task was read from, relative to the dump."""


@dataclass(frozen=True, slots=True)
class SealedTask:
    """The part of a task that gives the answer away; kept in a table of its own, without a view."""

    task_id: str
    test_patch: Sealed | None = None
    reference_patch: Sealed | None = None
    hints: Sealed | None = None
