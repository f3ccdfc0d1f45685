"""What readers hand to the join: attempts, recorded outcomes, exit notes and notes for the census, before they have
ids."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from rubrics.errors import InputError
from rubrics.records.census import Subject
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

    def note(self, kind: str, detail: str, *, subject: Subject | None = None, count: int = 1, topic: str = "") -> Note:
        """Something to be counted here; the subject is the row or the file that this is when none is named."""
        return Note(self, kind, detail, subject or ("row" if self.key else "file"), count, topic)

    def wrong(self, found: str, wanted: str, remedy: str, *, kind: str = "shape") -> InputError:
        """The error that leaves out what stands here."""
        return InputError(kind, self.place, found, wanted, remedy)


@dataclass(frozen=True, slots=True)
class Note:
    """Something to be counted about a place. The notes of one kind, topic and folder become one census line."""

    source: Source
    kind: str
    detail: str
    subject: Subject
    count: int = 1
    topic: str = ""
    """What tells notes of one kind apart that must not be added up: a column, a form."""


@dataclass(frozen=True, slots=True)
class RunName:
    """The run that something belongs to."""

    name: str
    folder: tuple[str, ...] | None = None
    """Folders down to the one that the name was taken from (the file's own name without ending counts as one); null
    where the name stood in the data. Two folders of one name are two runs."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a publisher's row says was measured of its own attempt."""

    reader: str
    outcome: OutcomeName
    detail: str | None


@dataclass(frozen=True, slots=True)
class Attempt:
    """A rollout before merging: what one place of a dump says of one attempt."""

    task_id: str
    run: RunName
    harness: str
    source: Source
    policy: str | None = None
    policy_step: int | None = None
    step_unread: bool = False
    """Whether the dump gives a policy step that cannot be read."""
    attempt: int | None = None
    """Index that the dump gives; null when it gives none."""
    group_id: str | None = None
    patch: str | None = None
    written: str | None = None
    """The patch as the dump has it: what a harness tested. `""` where a null says that there is none; null: not
    known."""
    turns: tuple[Turn, ...] | None = None
    unread: str | None = None
    """Digest of a transcript or patch that no reader understands: attempts that differ in it are no duplicates."""
    exit_status: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    snapshot: str | None = None
    given_id: str | None = None
    """The dump's own id of the attempt, by which its outcome rows may name it."""
    extra: str | None = None
    """JSON object of what else the dump says of the attempt."""
    own_file: bool = False
    """Whether the file is this attempt's alone: its patch is the attempt's own, and predictions repeat it."""
    measured: Measured | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """An outcome that a dump records, before it is known whose it is."""

    task_id: str
    run: RunName | None
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
    """Patch that was tested, where it lies beside the report: only an attempt that has it can be meant."""
    may_lack: bool = False
    """Whether it is usual that no attempt is there: the report lists tasks that the run did not try."""


@dataclass(frozen=True, slots=True)
class ExitNote:
    """An exit status that a run's own list gives for one task."""

    task_id: str
    run: RunName
    status: str
    source: Source


Item: TypeAlias = Attempt | Recorded | ExitNote | Task | SealedTask | Note


def note_of(error: InputError, source: Source) -> Note:
    """What is counted of an input that could not be used. `source` lies in the file that `error` names."""
    key = error.place[len(source.file.relative) + 1 :] if error.place.startswith(source.file.relative) else source.key
    detail = f"found {error.found}; wanted {error.wanted}. {error.remedy}"
    return Source(source.file, key).note(error.kind, detail)
