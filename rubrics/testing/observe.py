"""One run of a task's tests in an open environment: files put in, command run, what runner and canaries said."""

from __future__ import annotations

import random
import re
import secrets
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from rubrics.environments.session import CommandResult, Session
from rubrics.testing import task_report
from rubrics.testing.bounded import Reader
from rubrics.testing.canaries import Canary, Planted, plant
from rubrics.testing.plan import TestPlan
from rubrics.testing.recording import Ran, Recording, merged
from rubrics.testing.results import Results, Status

_PRELUDE = 'command -v python >/dev/null 2>&1 || python() { python3 "$@"; }\n'
"""Debian has no `python`; most commands say it."""

MARK = "\0"
"""Stands in an id where the drawn name of a canary stood."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What one run said, the canaries apart from the tests of the task."""

    done: CommandResult
    results: Results
    canaries: Mapping[Canary, Mapping[str, Status]]
    """Statuses of each canary that was planted, by what its id has beside its name (parameters, class)."""
    runs: tuple[Ran, ...] = ()
    """What the recorder reported; empty when the runner is none that it knows."""
    recorded: bool = False
    """Whether the results are the recorder's."""

    @property
    def changed(self) -> frozenset[str]:
        """Objects of the runner that were replaced while it ran."""
        return frozenset(place for run in self.runs for place in run.changed)

    @property
    def plugins(self) -> frozenset[str]:
        return frozenset(name for run in self.runs for name in run.plugins)


def planted_for(plan: TestPlan, only: frozenset[str] | None) -> Planted:
    """The plan's files with canaries for one run, under names drawn for it."""
    if only is not None and not only:
        return Planted()
    derived = re.search(r"\s-k\b", plan.command) is not None
    draw = random.Random(secrets.randbits(64))
    return plant(plan.files, plan.fail_to_pass, plan.pass_to_pass, draw, only, derived)


def observe(session: Session, plan: TestPlan, planted: Planted, timeout: float, reader: Reader) -> Observed:
    """Put the tests in and run them. Raises `InfraError` when the environment broke."""
    put_files(session, {**plan.files, **planted.files})
    command = f"{_PRELUDE}{plan.command}"
    if plan.report is not None:
        task_report.clear(session, plan.report)
    if not plan.python:
        done = session.run(command, timeout)
        return _apart(done, _printed(session, plan, done, reader), planted, ())
    recording = Recording(command, extra=_left_out(plan.command, planted))
    raw = session.run(recording.prepare(session), timeout)
    output, runs = recording.split(raw.output)
    done = replace(raw, output=output)
    if runs is None and raw.limit is None:
        problem = f"the run ended before its command did (exit code {raw.exit_code})"
        return _apart(done, Results("none", {}, problem), planted, ())
    if runs and plan.report is None and raw.limit is None:
        return _apart(done, merged(runs), planted, tuple(runs))
    return _apart(done, _printed(session, plan, done, reader), planted, tuple(runs or ()))


def _printed(session: Session, plan: TestPlan, done: CommandResult, reader: Reader) -> Results:
    """Results of the task's own report, else of what was printed."""
    if done.limit is not None:
        return Results("none", {}, f"ended by its {done.limit} limit")
    if plan.report is not None:
        return task_report.results_of(session, plan.report, done, reader)
    return reader.output(done.output, done.exit_code, plan.command)


def _apart(done: CommandResult, results: Results, planted: Planted, runs: tuple[Ran, ...]) -> Observed:
    """Take the canaries out of the results, and the failures that are theirs out of the exit code."""
    by_name = {canary.name: canary for canary in planted.canaries}
    found: dict[Canary, dict[str, Status]] = {canary: {} for canary in planted.canaries}
    statuses: dict[str, Status] = {}
    for test, status in results.statuses.items():
        canary = next((by_name[word] for word in re.findall(r"\w+", test) if word in by_name), None)
        if canary is None:
            statuses[test] = status
        else:
            found[canary][re.sub(rf"\b{re.escape(canary.name)}\b", MARK, test)] = status
    bad = any(status in ("failed", "error") for status in statuses.values())
    if planted.canaries and done.exit_code == 1 and not bad:
        done = replace(done, exit_code=0)
    recorded = bool(runs) and results.form in ("pytest", "unittest")
    described = {
        name: kept for name, ids in results.described.items() if (kept := tuple(t for t in ids if t in statuses))
    }
    return Observed(done, replace(results, statuses=statuses, described=described), found, runs, recorded)


def _left_out(command: str, planted: Planted) -> tuple[str, ...]:
    """Ids of canaries that the command's selection leaves out, because it names single tests."""
    extra: list[str] = []
    for canary in planted.canaries:
        path, _, place = canary.key.partition("::")
        owner = place.partition("#")[0].rpartition("::")[0] if canary.original else place.partition("#")[0]
        group = f"{path}::{owner}" if owner else path
        if re.search(rf"{re.escape(path)}::", command):
            extra.append(f"{group}::{canary.name}")
        module = ".".join([path.removesuffix(".py").replace("/", "."), *([owner] if owner else [])])
        if re.search(rf"\b{re.escape(module)}\.test\w*", command):
            extra.append(f"{module}.{canary.name}")
    return tuple(extra)


def put_files(session: Session, files: Mapping[str, bytes | None]) -> None:
    """Write files; links and files that stand where their folders should be go first."""
    folders = sorted({path[:end] for path in files for end, sign in enumerate(path) if sign == "/"})
    if folders:
        listed = " ".join(shlex.quote(folder) for folder in folders)
        session.run(f'for f in {listed}; do [ -d "$f" ] && [ ! -L "$f" ] || rm -f -- "$f"; done', 60.0)
    for path, content in sorted(files.items()):
        if content is None:
            session.run(f"rm -rf -- {shlex.quote(path)}", 60.0)
        else:
            session.write(path, content)
