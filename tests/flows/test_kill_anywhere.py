"""`rubrics run` over 300 rollouts, killed at random moments and typed again: it ends as if nobody had killed it.

Tests run in bubblewrap, a scripted model writes, judges, audits and ranks. RUBRICS_TEST_KILLS says how often it is
killed; with `-s` the figures are printed.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from conftest import TIMEOUT, Command
from environments.environment_helpers import started_or_skipped
from model_server.everything import everything
from model_server.server import ModelServer, Said, serving
from small_tasks import write_tasks

from rubrics.digests import digest128
from rubrics.environments.cgroups import ROOT as CGROUPS
from rubrics.environments.mounts import mount_points
from rubrics.models.stored import from_bytes
from rubrics.store.repair import look_over
from rubrics.store.store import Store

KILLS = int(os.environ.get("RUBRICS_TEST_KILLS", "6"))
TASKS, ATTEMPTS = 25, 12
WORKERS, CONCURRENCY = 2, 8
AGAIN = frozenset(("audit", "rank"))
"""Stages that the same command does again although they had ended: no model is asked again for that."""
FAR = 0.3
"""A kill comes within so much of an undisturbed run's steps or requests, so that a run is killed several times."""
WATCHED = Path(__file__).with_name("watched.py")
MOMENTS = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens", "cost", "seconds", "from_cache")
"""Columns of `judgements` that say what this very run paid for and waited for: not the same in any two runs."""
_SUBREAPER = 36


class Model:
    """Plays every role; numbers the distinct requests, marks each reply with that number, and kills on the n-th."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.victim: tuple[int, bool] | None = None
        self.kill_at = 0
        self._numbers: dict[str, int] = {}

    def __call__(self, body: dict[str, Any]) -> Said:
        number = self._numbers.setdefault(digest128([json.dumps(body, sort_keys=True)]), len(self._numbers) + 1)
        self.asked.append(number)
        if len(self.asked) == self.kill_at and self.victim is not None:
            process, group = self.victim
            (os.killpg if group else os.kill)(process, signal.SIGKILL)
        said = everything(body)
        said = said if isinstance(said, Said) else Said(json.dumps(said))
        return replace(said, usage={"completion_tokens": number})


@dataclass(frozen=True)
class Moment:
    """When a run is killed: at a step of its own, or at a request to the model; alone, or with its process group."""

    step: int = 0
    request: int = 0
    group: bool = False


@dataclass
class Job:
    """One store, and the command that is typed again and again; a home and a temporary folder of its own."""

    folder: Path
    dump: Path
    model: Model
    server: ModelServer
    runs: set[str] = field(default_factory=set)
    """Names of runs that environments were opened by, and that were killed."""

    @property
    def store(self) -> Path:
        return self.folder / "store"

    def type(self, moment: Moment = Moment()) -> bool:
        """Run the command; whether it was killed. What it leaves running has ended when this returns."""
        for name in ("home", "tmp"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        watched = {"FOLDER": self.folder, "LOG": self.log, "STEP": moment.step, "GROUP": int(moment.group)}
        environment = Command(self.folder / "home", None).environment(
            TMPDIR=str(self.folder / "tmp"), **{f"WATCHED_{name}": str(value) for name, value in watched.items()}
        )
        words = (
            *("run", self.dump, "--store", self.store, "--data", self.dump.parent, "--env", "bubblewrap"),
            *("--with-tests", "--author", "model", "--judge", "single", "--rank-mode", "single", "--model", "m"),
            *("--base-url", self.server.url, "--workers", WORKERS, "--concurrency", CONCURRENCY, "--json"),
        )
        self.model.kill_at = 0
        with orphans_end(), (self.folder / "said").open("w") as said:
            process = subprocess.Popen(
                [sys.executable, str(WATCHED), *map(str, words)], cwd=self.folder, env=environment, stdout=said,
                stderr=said, start_new_session=True
            )  # fmt: skip
            self.model.victim = (process.pid, moment.group)
            self.model.kill_at = len(self.model.asked) + moment.request if moment.request else 0
            code = process.wait(TIMEOUT)
            self.model.victim = None
        assert code in (0, -signal.SIGKILL), (self.folder / "said").read_text()
        self.runs |= {item.name for item in self.environments.glob("runs/*")}
        return code != 0

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def environments(self) -> Path:
        return self.folder / "home" / "cache" / "rubrics" / "environments"

    def finished(self) -> list[str]:
        """Stage and key of each chunk, whenever it was finished."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [chunk for line in lines if (chunk := line.partition(f"{self.store}/work/")[2])]

    def records(self) -> set[str]:
        """Finished chunks that wait for their commit."""
        work = self.store / "work"
        return {item.relative_to(work).as_posix() for item in work.glob("*/*.json")}

    def replies(self) -> set[int]:
        """Numbers of the requests whose replies are on record."""
        file = self.store / "model-cache.sqlite"
        if not file.exists():
            return set()
        with closing(sqlite3.connect(file)) as cache, suppress(sqlite3.OperationalError):  # it has no tables yet
            found = [from_bytes(value) for (value,) in cache.execute("SELECT value FROM replies")]
            return {reply.usage.completion for reply in found if reply is not None and reply.usage.completion}
        return set()


@contextmanager
def orphans_end() -> Iterator[None]:
    """What a process leaves running becomes a child of this one, and must end by itself."""
    before = set(_children())
    assert ctypes.CDLL(None).prctl(_SUBREAPER, 1) == 0
    try:
        yield
        for child in set(_children()) - before:
            words = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ")
            with closing(os.fdopen(os.pidfd_open(child))) as watched:
                assert select.select([watched], [], [], 60)[0], f"left running: {words!r}"
            with suppress(ChildProcessError):
                os.waitpid(child, 0)
    finally:
        ctypes.CDLL(None).prctl(_SUBREAPER, 0)


def _children() -> list[int]:
    tasks = Path("/proc/self/task").glob("*/children")
    return [int(number) for item in tasks for number in item.read_text().split()]


def contents(job: Job) -> dict[str, Any]:
    """Everything that is to be the same: parts by table, judgements without what was paid, rubric files."""
    store = Store.open(job.store)
    parts: dict[str, Any] = {name: set(version.parts) for name, version in store.manifest().tables.items()}
    judged = f"SELECT * EXCLUDE ({', '.join(MOMENTS)}) FROM judgements ORDER BY ALL"
    parts["judgements"] = store.query(judged).to_pylist()
    return {**parts, **{item.name: item.read_bytes() for item in job.store.glob("rubrics/*")}}


def check_nothing_is_left(job: Job) -> None:
    """No mount, control group or temporary folder of any of its runs, nor half a commit or file."""
    assert list((job.folder / "tmp").iterdir()) == []
    assert list(job.environments.glob("runs/*")) == []
    assert not [point for point in mount_points() if point.startswith(str(job.folder))]
    groups = [item.name for item in CGROUPS.glob("**/rubrics-*")]
    assert not [name for name in groups for run in job.runs if run in name]
    assert not (job.store / ".pending").exists()
    assert not [item for item in job.store.rglob(".*.tmp") if not item.name.startswith(".report.html")]


def killed_again_and_again(job: Job, kills: Iterator[Moment], figures: Counter[str]) -> None:
    """Type the command until it ends undisturbed; after each kill the store is whole, and nothing is done twice."""
    while True:
        waiting, known, finished, asked = job.records(), job.replies(), len(job.finished()), len(job.model.asked)
        moment = next(kills, Moment())
        killed = job.type(moment)
        assert not waiting & set(job.finished()[finished:]), "a finished chunk was done again"
        assert not known & set(job.model.asked[asked:]), "a reply that was on record was asked for again"
        figures["finished chunks taken over"] += len(waiting)
        if not killed:
            return
        figures["kills"] += 1
        figures[f"kills by {'a step' if moment.step else 'a request'}"] += 1
        if (job.store / "manifest.json").exists():
            assert not list(look_over(job.store))


def draws(seed: int, steps: int, requests: int, figures: Counter[str]) -> Iterator[Moment]:
    """Moments of kills, until there were enough."""
    chance = Random(seed)
    while figures["kills"] < KILLS:
        group = chance.random() < 0.5
        if chance.random() < 0.6:
            yield Moment(step=chance.randrange(1, int(FAR * steps)), group=group)
        else:
            yield Moment(request=chance.randrange(1, int(FAR * requests)), group=group)


def test_a_run_killed_at_random_moments_ends_as_if_nobody_had_killed_it(tmp_path: Path) -> None:
    """What a kill after the stage `test` cost: all tests ran again, and were a second run in the table of outcomes."""
    started_or_skipped("bubblewrap").close()
    (tmp_path / "dump").mkdir()
    dump, model, figures = write_tasks(tmp_path / "dump", TASKS, ATTEMPTS), Model(), Counter[str]()
    with serving(model) as server:
        undisturbed = Job(tmp_path / "undisturbed", dump, model, server)
        undisturbed.folder.mkdir()
        assert not undisturbed.type()
        wanted, chunks, requests = contents(undisturbed), undisturbed.finished(), len(model.asked)
        assert Store.open(undisturbed.store).count("rewards") == TASKS * ATTEMPTS
        steps = int(undisturbed.log.read_text().splitlines()[-1].removeprefix("steps "))
        kills = draws(KILLS, steps, requests, figures)
        while figures["kills"] < KILLS:
            figures["stores"] += 1
            job = Job(tmp_path / f"store-{figures['stores']}", dump, model, server)
            job.folder.mkdir()
            asked = len(model.asked)
            killed_again_and_again(job, kills, figures)
            found = contents(job)
            assert [name for name in wanted | found if wanted.get(name) != found.get(name)] == []
            assert set(chunks) <= set(job.finished())
            again = [chunk.partition("/")[0] for chunk in (Counter(job.finished()) - Counter(chunks)).elements()]
            figures["chunks of audit and rank, which had ended, done again"] += sum(map(AGAIN.__contains__, again))
            figures["chunks under way at a kill, done again"] += sum(stage not in AGAIN for stage in again)
            figures["requests under way at a kill, asked again"] += len(model.asked) - asked - requests
            check_nothing_is_left(job)
        check_nothing_is_left(undisturbed)
    assert figures["chunks under way at a kill, done again"] <= WORKERS * KILLS
    assert figures["requests under way at a kill, asked again"] <= CONCURRENCY * KILLS
    print({"steps": steps, "requests": requests, "chunks": len(chunks), **figures})
