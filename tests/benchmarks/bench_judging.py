"""The single judge on the work that other systems were measured on: 320 rollouts of 20 KB, 10 criteria, 32 in flight.

`python tests/benchmarks/bench_judging.py 320 rates` prints rates and client CPU per rollout, of the judge alone and
of the whole stage `score`, which reads and writes the tables; `... 320 faults` the same
work with 5 % of the replies broken in each way. The server is a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from judge_server import FAULTS
from synthetic import write_rollouts

from rubrics.judges.single import SingleJudge
from rubrics.models.client import open_client
from rubrics.models.settings import ModelSettings
from rubrics.records.models import Request
from rubrics.records.rubrics import Criterion, Kind, Rubric
from rubrics.rules.files import to_yaml
from rubrics.stages.estimate import chosen_cases
from rubrics.stages.models import open_model
from rubrics.stages.options import Options
from rubrics.stages.pipeline import run_stages
from rubrics.stages.stage import run_here
from rubrics.store.store import Store

ATTEMPTS = 16
KINDS: tuple[Kind, ...] = ("solution", "behavior")


def judged_store(folder: Path, rollouts: int) -> Store:
    """A store of synthetic rollouts whose two rubrics ask a judge for five criteria each."""
    folder.mkdir(parents=True)
    dump = folder / "rollouts.jsonl"
    write_rollouts(dump, rollouts // ATTEMPTS, ATTEMPTS)
    run_stages(("ingest", "facts"), {"store": str(folder / "store"), "dumps": [str(dump)]}, run_here)
    store = Store.open(folder / "store")
    store.paths.rubrics.mkdir(exist_ok=True)
    for task in store.rows("tasks", ["task_id"]):
        for kind in KINDS:
            texts = {f"{kind}-{n}": f"The {kind} meets demand number {n} of the task." for n in range(5)}
            criteria = tuple(Criterion(name, text, 1.0, "judge") for name, text in texts.items())
            rubric = Rubric(task["task_id"], kind, criteria, "edited", (), "", "")
            store.paths.rubric(task["task_id"], kind).write_text(to_yaml(rubric), "utf-8")
    return store


@contextmanager
def server(latency: float, fault: str = "none", share: float = 0.05) -> Iterator[str]:
    """A scripted server in a process of its own; its address."""
    words = [sys.executable, str(Path(__file__).with_name("judge_server.py")), str(latency), fault, str(share)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def judged(store: Store, url: str) -> dict[str, float]:
    """Seconds and client CPU of one `score`; what is imported on the first call is not counted."""
    began, cpu = time.perf_counter(), time.process_time()
    values = {"store": str(store.paths.root), "model": "m", "base_url": url, "judge": "single", "concurrency": 32}
    run_stages(("score",), values, run_here)
    return {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu}


def alone(store: Store, url: str) -> dict[str, float]:
    """The same for the judge alone: from records in memory to judgements, without reading and writing tables."""
    options = Options(str(store.paths.root), model="m", base_url=url, judge="single")
    listed = list(chosen_cases(store, options))
    with open_model(options, store) as client:
        judge = SingleJudge(client, options.room)
        began, cpu = time.perf_counter(), time.process_time()
        done = client.run_all([partial(judge.judge, case) for case in listed], options.concurrency)
        took = {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu}
    assert all(judgement.verdicts for judgement in done)
    return took


def warm(url: str) -> None:
    """Import what is imported on the first call."""
    with open_client(ModelSettings("m", url)) as client:
        client.run(client.turn(Request(({"role": "user", "content": "hello"},))))


def forget(store: Store) -> None:
    for file in store.paths.root.glob("model-cache.sqlite*"):
        file.unlink()


def values(store: Store) -> dict[tuple[str, str], float | None]:
    sql = "SELECT rollout_id, criterion_id, value FROM grades"
    return {(row["rollout_id"], row["criterion_id"]): row["value"] for row in store.query(sql).to_pylist()}


def rates(store: Store, rollouts: int, rounds: int = 3) -> None:
    print(f"{'server':>12} {'rollouts/s':>11} {'client CPU ms/rollout':>22}")
    for latency in (0.0, 0.05):
        with server(latency) as url:
            warm(url)
            for _ in range(rounds):
                forget(store)
                _row(f"judge, {latency * 1000:.0f} ms", alone(store, url), rollouts)
                forget(store)
                _row(f"score, {latency * 1000:.0f} ms", judged(store, url), rollouts)
            _row("from cache", judged(store, url), rollouts)


def _row(name: str, found: dict[str, float], rollouts: int) -> None:
    print(f"{name:>12} {rollouts / found['seconds']:11.0f} {found['cpu'] / rollouts * 1000:22.2f}", flush=True)


def faults(store: Store, share: float = 0.05) -> None:
    """Every fault in a share of the replies: no wrong score, no sound verdict lost, a rerun repairs what failed."""
    forget(store)
    with server(0.0) as url:
        judged(store, url)
    right = values(store)
    print(f"{'fault':>20} {'null':>6} {'wrong':>6} {'a rerun asks for':>17} {'null':>6} {'wrong':>6}")
    for name in FAULTS:
        forget(store)
        with server(0.0, name, share) as url:
            judged(store, url)
            first = _compare(values(store), right)
            judged(store, url)
            again = _compare(values(store), right)
            asked = store.query("SELECT count(*) AS n FROM judgements WHERE NOT from_cache").to_pylist()[0]["n"]
        print(f"{name:>20} {first[0]:6} {first[1]:6} {asked:17} {again[0]:6} {again[1]:6}", flush=True)


def _compare(found: dict[Any, float | None], right: dict[Any, float | None]) -> tuple[int, int]:
    assert found.keys() == right.keys()
    null = sum(value is None for value in found.values())
    return null, sum(value is not None and value != right[key] for key, value in found.items())


def main(rollouts: str = "320", what: str = "rates") -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = judged_store(Path(folder) / "work", int(rollouts))
        if what == "rates":
            rates(store, int(rollouts))
        else:
            faults(store)


if __name__ == "__main__":
    main(*sys.argv[1:])
