"""Recorded outcomes that no rollout was given: which, of which run, and what comes near."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rubrics.ingest.identity import Known
from rubrics.ingest.items import Note, Recorded, Source

EXAMPLES = 5
"""Tasks that a note names."""
RUNS = 100
"""Runs of one file that have a note of their own."""

_SAID = {
    "outcome_without_rollout": "no rollout of it is there; give its attempts, or correct the names",
    "outcome_of_another_patch": "the tested patch is not the patch of the attempt; give the attempt that was tested",
    "outcome_ambiguous": "several attempts at the task, of different patches; name `attempt` or `policy`",
    "not_tried": "the report lists tasks that the run did not try",
    "joined_by_policy": "the harness's run has no rollouts; joined to the policy's only run",
}


@dataclass(slots=True)
class _Group:
    source: Source
    count: int = 0
    examples: list[str] = field(default_factory=list)


class Lost:
    """Collects outcomes by kind, file and run; `notes` says what was lost. `tasks` are the rollouts by task."""

    def __init__(self, tasks: Mapping[str, Sequence[Known]]) -> None:
        self._tasks = tasks
        self._groups: dict[tuple[str, str, str], _Group] = {}
        self._runs: dict[tuple[str, str], int] = {}
        self._plain: dict[str, str] | None = None

    def add(self, kind: str, recorded: Recorded, near: Sequence[Known]) -> None:
        """The outcome was given to none of `near`."""
        if recorded.may_lack and not near:
            kind = "not_tried"
        self._group(kind, recorded, _run(recorded), near)

    def joined_by_policy(self, recorded: Recorded, run: str) -> None:
        """The outcome was given to the policy's only run."""
        self._group("joined_by_policy", recorded, f"{_run(recorded)}, policy {recorded.policy!r}, its run {run!r}", ())

    def notes(self) -> Iterator[Note]:
        for (kind, _, run), group in self._groups.items():
            more = ", ..." if group.count > len(group.examples) else ""
            detail = f"{run}: {', '.join(group.examples)}{more}: {_SAID[kind]}"
            yield group.source.note(kind, detail, subject="outcome", count=group.count, topic=run)

    def _group(self, kind: str, recorded: Recorded, run: str, near: Sequence[Known]) -> None:
        file = recorded.source.file.relative
        if (kind, file, run) not in self._groups:
            self._runs[kind, file] = self._runs.get((kind, file), 0) + 1
            run = run if self._runs[kind, file] <= RUNS else "further runs"
        group = self._groups.setdefault((kind, file, run), _Group(Source(recorded.source.file)))
        group.count += 1
        if len(group.examples) < EXAMPLES:
            group.examples.append(self._example(recorded, near))

    def _example(self, recorded: Recorded, near: Sequence[Known]) -> str:
        """The task, and the rollouts of it that come near, or a task whose name does."""
        name = repr(recorded.task_id[:120])
        if recorded.given_id is not None:
            name += f" (rollout_id {recorded.given_id[:60]!r})"
        known = list(near) or list(self._tasks.get(recorded.task_id, ()))
        if known:
            places = ", ".join(f"run {item.run!r} in {item.place}" for item in known[:2])
            return f"{name} (there is {places}{', ...' if len(known) > 2 else ''})"
        other = self._alike(recorded.task_id)
        return name if other is None else f"{name} (there is {other[:120]!r}: names are compared exactly)"

    def _alike(self, task_id: str) -> str | None:
        """A task with rollouts whose name differs in case or blanks alone."""
        if self._plain is None:
            self._plain = {plain(name): name for name in self._tasks}
        return self._plain.get(plain(task_id))


def plain(name: str) -> str:
    """A name without what people mistype: case and blanks."""
    return "".join(name.split()).casefold()


def _run(recorded: Recorded) -> str:
    return "no run" if recorded.run is None else f"run {recorded.run.name[:120]!r}"
