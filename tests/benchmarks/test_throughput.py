"""Rollouts per second and peak memory of every stage, over 10,000 rollouts of about 20 KB (625 tasks of 16).

No time is asserted: machines differ. Asserted is what a wrong algorithm would break: the rate of a run ten times as
large stays of the same order, and memory does not grow with the input. `PROFILE=score` prints the top of a profile.
"""

from __future__ import annotations

import cProfile
import json
import os
import pstats
import subprocess
import sys
import time
from pathlib import Path

import pytest

TASKS, ATTEMPTS = 625, 16
STAGES = ("ingest", "facts", "synthesize", "score", "reward")
ROOT = Path(__file__).resolve().parents[2]


def main(dump: str, store: str) -> None:
    """Run every stage in this process; one line of JSON per stage: seconds, CPU seconds, peak memory in MB."""
    from rubrics.stages.pipeline import run_stages
    from rubrics.stages.stage import run_here

    for stage in STAGES:
        began, cpu = time.perf_counter(), time.process_time()
        profile = cProfile.Profile() if os.environ.get("PROFILE") == stage else None
        options = {"store": store, "dumps": [dump] if stage == "ingest" else []}
        if profile:
            profile.runcall(run_stages, (stage,), options, run_here)
            pstats.Stats(profile, stream=sys.stderr).sort_stats("cumulative").print_stats(45)
            pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(30)
        else:
            run_stages((stage,), options, run_here)
        peak = _peak_mb()
        took, used = time.perf_counter() - began, time.process_time() - cpu
        print(json.dumps({"stage": stage, "seconds": took, "cpu": used, "peak_mb": peak}), flush=True)


def _peak_mb() -> float:
    """Largest resident size of this process so far; `getrusage` would count that of the process it came from."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def measured(folder: Path, tasks: int) -> dict[str, dict[str, float]]:
    """Every stage over so many tasks, in a process of its own."""
    from synthetic import write_rollouts

    folder.mkdir()
    dump = folder / "rollouts.jsonl"
    write_rollouts(dump, tasks, ATTEMPTS)
    words = [sys.executable, __file__, str(dump), str(folder / "store")]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    stages = {row["stage"]: row for row in map(json.loads, done.stdout.splitlines())}
    print(f"\n{tasks * ATTEMPTS} rollouts, {dump.stat().st_size / 1e6:.0f} MB of JSON lines")
    print(f"{'stage':12} {'seconds':>8} {'CPU':>8} {'rollouts/s':>11} {'per CPU s':>10} {'peak MB':>8}")
    for stage, row in stages.items():
        row["rate"] = tasks * ATTEMPTS / row["cpu"]
        wall = tasks * ATTEMPTS / row["seconds"]
        print(
            f"{stage:12} {row['seconds']:8.1f} {row['cpu']:8.1f} {wall:11.0f} {row['rate']:10.0f} {row['peak_mb']:8.0f}"
        )
    both = tasks * ATTEMPTS / (stages["facts"]["cpu"] + stages["score"]["cpu"])
    print(f"facts and score together: {both:.0f} rollouts per CPU second")
    return stages


@pytest.mark.benchmark
def test_the_rate_holds_and_memory_stays_bounded_as_the_input_grows(tmp_path: Path) -> None:
    small = measured(tmp_path / "small", TASKS // 10)
    large = measured(tmp_path / "large", TASKS)
    for stage in STAGES:
        assert large[stage]["rate"] > small[stage]["rate"] / 3, f"{stage} slows down as the input grows"
    assert large["reward"]["peak_mb"] < 4 * small["reward"]["peak_mb"] + 500


if __name__ == "__main__":
    main(*sys.argv[1:])
