"""What readers hand to the join: attempts, recorded outcomes and exit notes, before they have ids."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from rubrics.errors import InputError
from rubrics.records.census import CensusLine, Subject
from rubrics.records.outcomes import OutcomeName
from rubrics.records.rollouts import Turn
from rubrics.records.tasks import SealedTask, Task


@dataclass(frozen=True, slots=True)
class FileRef:
    """One file of a dump."""

    path: Path
    """Where it is opened."""
    relative: str
    """Its name in the census and in records: relative to its dump, always storable as UTF-8."""
    dump: int
    """Number of its dump among those given, from 0."""
    folders: tuple[str, ...]
    """Names of the folders above it, outermost first, links resolved, whichever folder of them was given."""
    beside: frozenset[str]
    """Names of the plain files of its folder that belong to the same dump, itself included."""

    @property
    def name(self) -> str:
        """Last part of `relative`."""
        return self.relative.rpartition("/")[2]

    def sibling(self, name: str) -> Path | None:
        """A file of the same folder, if the dump holds it."""
        return self.path.parent / name if name in self.beside else None


@dataclass(frozen=True, slots=True)
class Source:
    """A place in a file: the whole file, a line, a row or a key."""

    file: FileRef
    key: str = ""

    @property
    def place(self) -> str:
        return f"{self.file.relative}:{self.key}" if self.key else self.file.relative

    def at(self, key: str) -> Source:
        """The same file, at `key`."""
        return Source(self.file, key)

    def note(self, kind: str, detail: str, *, subject: Subject = "file", count: int = 1) -> CensusLine:
        """A census line about the file. Lines that differ in their count alone are added up."""
        return CensusLine("ingest", subject, kind, self.file.relative, detail, count)

    def wrong(self, found: str, wanted: str, remedy: str, *, kind: str = "shape") -> InputError:
        """The error that leaves out what stands here."""
        return InputError(kind, self.place, found, wanted, remedy)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A rollout before merging: what one place of a dump says of one attempt."""

    task_id: str
    run: str
    harness: str
    source: Source
    policy: str | None = None
    policy_step: int | None = None
    attempt: int | None = None
    """Index that the dump gives; null when it gives none."""
    group_id: str | None = None
    patch: str | None = None
    turns: tuple[Turn, ...] | None = None
    exit_status: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    snapshot: str | None = None
    given_id: str | None = None
    """The dump's own id of the attempt, by which its outcome rows may name it."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An outcome that a dump records, before it is known whose it is."""

    task_id: str
    run: str | None
    source: Source
    name: str
    """Source name of the outcome: `harness:<path>` or `file:<digest>`."""
    outcome: OutcomeName
    policy: str | None = None
    attempt: int | None = None
    given_id: str | None = None
    detail: str | None = None
    tests: str | None = None
    log_digest: str | None = None
    patch: str | None = None
    """Patch that was tested, where it lies beside the report: decides between several attempts of a run."""


@dataclass(frozen=True, slots=True)
class ExitNote:
    """An exit status that a run's own list gives for one task."""

    task_id: str
    run: str
    status: str
    source: Source


Item: TypeAlias = Attempt | Recorded | ExitNote | Task | SealedTask | CensusLine


def census_of(error: InputError) -> CensusLine:
    """The census line of an input that could not be used."""
    detail = f"found {error.found}; wanted {error.wanted}. {error.remedy}"
    return CensusLine("ingest", "file", error.kind, error.place, detail)
