"""Test: the hidden tests of every rollout, run in its own environment; results are outcomes `run:<k>`.

What shows that a run did not decide by the tests goes to `audits`, under the same source.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from typing import Any

from rubrics import __version__, jsonio
from rubrics.digests import digest128
from rubrics.errors import InfraError
from rubrics.records.census import CensusLine
from rubrics.records.tasks import SealedTask, Task
from rubrics.stages.environments import Opener
from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk
from rubrics.stages.task_records import rollout_records, task_records
from rubrics.store.chunks import Done, Output
from rubrics.store.commit import StageRun
from rubrics.store.store import Store
from rubrics.testing.bounded import Reader
from rubrics.testing.flicker import Run, flicker
from rubrics.testing.run import Prepared, TestRun, infra, prepare_tests, run_tests

STATES = 4
"""Distinct states of a task per chunk: few, so that workers share a task with many rollouts."""

_ROLLOUTS = """
SELECT task_id, rollout_id, patch, snapshot, tasks.task_id AS known, coalesce(image, recipe, repository, '') AS image
FROM rollouts LEFT JOIN tasks USING (task_id) WHERE {} ORDER BY image, task_id, rollout_id
"""
_SAID = "source LIKE 'run:%' AND outcome <> 'infra'"
_UNTESTED = f"rollout_id NOT IN (SELECT rollout_id FROM outcomes WHERE {_SAID})"


class Test:
    """Adds rows to `outcomes`; other sources and earlier runs stay. Equal states of a task are run once.

    Before a score (`with_tests`) only rollouts are run of which no run has said anything yet.
    """

    __test__ = False
    name = "test"
    reads = ("tasks", "sealed", "rollouts", "outcomes", "environments")

    def __init__(self, store: Store, options: Options, opener: Opener | None = None) -> None:
        self._store = store
        self._options = options
        self._census: list[CensusLine] = []
        self._said: dict[str, list[CensusLine]] = {}
        self._first = next_run(store)
        self._prepared: dict[str, Prepared | InfraError] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()
        self._opener = opener or Opener(options, store)
        self._reader = Reader()
        self._chunks = list(self._planned())

    def chunks(self) -> Iterable[Chunk]:
        return self._chunks

    def lasting_census(self) -> tuple[str, dict[str, Any]]:
        """Lines about tasks that are not run now stay."""
        tasks = {chunk.label for chunk in self._chunks} | {line.place for line in self._census}
        return "place <> '' AND place NOT IN (SELECT unnest($tasks))", {"tasks": sorted(tasks)}

    def _planned(self) -> Iterator[Chunk]:
        """States of one task; tasks that share an image follow each other."""
        rows = self._store.query(_ROLLOUTS.format(_UNTESTED if self._options.with_tests else "true")).to_pylist()
        tasks = sorted({row["task_id"] for row in rows if fnmatchcase(row["task_id"], self._options.tasks)})
        chosen = set(tasks[: self._options.limit])
        states: dict[str, dict[str, list[str]]] = {}
        for row in rows:
            if row["task_id"] in chosen and self._can_run(row):
                key = digest128([row["patch"], row["snapshot"]])
                states.setdefault(row["task_id"], {}).setdefault(key, []).append(row["rollout_id"])
        for task_id, found in states.items():
            groups = list(found.values())
            for start in range(0, len(groups), STATES):
                part = groups[start : start + STATES]
                yield Chunk(task_id, (task_id, *part), sum(len(group) for group in part))

    def _can_run(self, row: dict[str, Any]) -> bool:
        if row["known"] is None:
            self._left_out("no_task", row["task_id"], "no task row: nothing says what to run")
            return False
        if row["patch"] is None and row["snapshot"] is None:
            self._left_out("no_patch", row["task_id"], "neither patch nor snapshot: nothing to run")
            return False
        return True

    def _left_out(self, kind: str, task_id: str, detail: str) -> None:
        self._census.append(_line("rollout", kind, task_id, detail))

    def work(self, out: Output, chunk: Chunk) -> int:
        task_id, *groups = chunk.items
        task, sealed = task_records(self._store, [task_id])[task_id]
        first = [group[0] for group in groups]
        rollouts = {item.rollout_id: item for item in rollout_records(self._store, first)}
        earlier = self._earlier(first)
        for group in groups:
            runs = earlier.get(group[0], [])
            for repeat in range(self._options.repeat):
                done = self._run(task, sealed, rollouts[group[0]])
                self._opener.entered(done.rung or "", group if done.rung else ())
                out.append("outcomes", [self._row(task_id, rollout_id, repeat, done) for rollout_id in group])
                for rollout_id in group:
                    out.append("audits", self._audits(task_id, rollout_id, repeat, done))
                if done.outcome == "infra":
                    out.note(_line("rollout", "infra", task_id, done.detail, len(group)))
                else:
                    runs.append((done.outcome, done.tests))
            if (found := flicker(runs)) is not None:
                out.note(_line("rollout", "flickering", task_id, found, len(group)))
        out.keep("entered", self._opener.entered_of([rollout_id for group in groups for rollout_id in group]))
        out.keep("task", [asdict(line) for line in self._said.get(task_id, ())])
        return chunk.rollouts

    def _earlier(self, rollout_ids: list[str]) -> dict[str, list[Run]]:
        """What earlier runs said of the rollouts."""
        where = f"{_SAID} AND rollout_id IN (SELECT unnest($ids))"
        found: dict[str, list[Run]] = {}
        for row in self._store.rows("outcomes", ["rollout_id", "outcome", "tests"], where=where, ids=rollout_ids):
            tests = jsonio.loads(row["tests"]) if row["tests"] else {}
            found.setdefault(row["rollout_id"], []).append((row["outcome"], tests))
        return found

    def _run(self, task: Task, sealed: SealedTask | None, rollout: Any) -> TestRun:
        prepared = self._ready(task, sealed)
        if isinstance(prepared, InfraError):
            return infra(prepared)
        return run_tests(self._opener, task, prepared, rollout, self._options.timeout)

    def _ready(self, task: Task, sealed: SealedTask | None) -> Prepared | InfraError:
        """What runs of the task's tests share, made once; an error is kept too."""
        with self._lock:
            lock = self._locks.setdefault(task.task_id, threading.Lock())
        with lock:
            if task.task_id not in self._prepared:
                self._prepared[task.task_id] = self._prepare(task, sealed)
            return self._prepared[task.task_id]

    def _prepare(self, task: Task, sealed: SealedTask | None) -> Prepared | InfraError:
        timeout, original = self._options.timeout, self._opener.original
        try:
            prepared = prepare_tests(self._opener, task, sealed, timeout, original, self._reader)
        except InfraError as error:
            self._say("task", error.kind, task.task_id, f"no rollout of it can be tested here: {error}")
            return error
        found = prepared.calibration
        no_say = "PASS_TO_PASS tests that the reference itself does not pass here decide nothing"
        self._few("tests_left_out", task, no_say, found.left_out)
        self._few("flickering", task, "tests that come out differently in runs of the reference", found.flickering)
        if not found.canaries:
            detail = "no tests of our own can be put beside the listed ones: a subverted runner would not show"
            self._say("task", "no_canaries", task.task_id, detail)
        return prepared

    def _few(self, kind: str, task: Task, what: str, tests: tuple[str, ...]) -> None:
        if tests:
            some = ", ".join(tests[:5]) + (", ..." if len(tests) > 5 else "")
            self._say("task", kind, task.task_id, f"{what}: {some}", len(tests))

    def _row(self, task_id: str, rollout_id: str, repeat: int, done: TestRun) -> dict[str, Any]:
        return {
            "rollout_id": rollout_id, "task_id": task_id, "source": f"run:{self._first + repeat}",
            "outcome": done.outcome, "detail": done.detail, "tests": jsonio.dumps(done.tests) if done.tests else None,
            "log_digest": done.log_digest, "rung": done.rung,
        }  # fmt: skip

    def _audits(self, task_id: str, rollout_id: str, repeat: int, done: TestRun) -> Iterator[dict[str, Any]]:
        """The worst that shows that the run did not decide by the tests."""
        for item in done.subversions[:1]:
            source = f"run:{self._first + repeat}"
            yield {
                "rollout_id": rollout_id, "task_id": task_id, "source": source, "kind": "run_subverted",
                "verdict": item.level, "evidence": jsonio.dumps([f"outcome:{source}"]), "reason": item.detail,
                "code_version": __version__,
            }  # fmt: skip

    def _say(self, subject: Any, kind: str, task_id: str, detail: str, count: int = 1) -> None:
        """Note what is said once of a task, whichever of its chunks comes first."""
        with self._lock:
            self._said.setdefault(task_id, []).append(_line(subject, kind, task_id, detail, count))

    def finish(self, run: StageRun, done: Sequence[Done]) -> None:
        run.carry("outcomes")
        run.carry("audits")
        tasks = {CensusLine(**line) for item in done for line in item.kept["task"]}
        entered = (item.kept["entered"] for item in done)
        for line in (*self._opener.census(self.name, entered), *self._census, *sorted(tasks, key=str)):
            run.note(line)
        self.close()

    def close(self) -> None:
        self._opener.close()
        self._reader.close()


def _line(subject: Any, kind: str, place: str, detail: str, count: int = 1) -> CensusLine:
    return CensusLine(Test.name, subject, kind, place, detail, count)


def next_run(store: Store) -> int:
    """The number after the latest run that the store holds."""
    found: Iterator[str] = (row["source"] for row in store.rows("outcomes", ["source"], where="source LIKE 'run:%'"))
    return 1 + max((int(name[4:]) for name in found if name[4:].isdecimal()), default=0)
