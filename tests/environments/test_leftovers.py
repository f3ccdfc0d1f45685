"""What a process leaves that was killed in the middle of a command, the next start removes; what lives, it leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from environment_helpers import BACKENDS, STATE, small_task, started, started_or_skipped

from rubrics.environments.docker_engine import STATE_LABEL, Engine
from rubrics.environments.mounts import mount_points
from rubrics.environments.state import State, dead_runs, is_alive, sweep

HERE = Path(__file__).parent
OPENS = """
import sys
import threading
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from environment_helpers import small_task, started
environment = started(sys.argv[2])
sessions = [environment.open(small_task(Path(sys.argv[3])), None) for _ in range(2)]
for session in sessions:
    session.run("(setsid sleep 7654 &) ; echo x > left", 30)
busy = "echo begun > busy; while :; do echo x >> /tmp/busy; done"
threading.Thread(target=sessions[0].run, args=(busy, 600), daemon=True).start()
print(environment._state.run, flush=True)
sys.stdin.read()
"""


def containers() -> list[str]:
    return [found for found, _ in Engine().containers(f"{STATE_LABEL}={STATE}")]


@pytest.mark.parametrize("name", BACKENDS)
def test_after_kill_9_nothing_is_left_once_the_next_process_starts(name: str, base: None, repository: Path) -> None:
    started_or_skipped(name).close()
    before = set(containers()) if name != "bubblewrap" else set()
    command = [sys.executable, "-c", OPENS, str(HERE), name, str(repository)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        run = process.stdout.readline().strip()
        folder = STATE / "runs" / run
        assert is_alive(STATE, run)
        assert folder not in list(dead_runs(STATE))
        if name != "docker":
            assert any(point.startswith(str(folder)) for point in mount_points())
        if name != "bubblewrap":
            assert len(set(containers()) - before) >= 2
        os.kill(process.pid, signal.SIGKILL)
    assert folder in list(dead_runs(STATE))
    started(name).close()
    assert not folder.exists()
    assert not any(run in point for point in mount_points())
    assert not list(Path("/sys/fs/cgroup").glob(f"*/rubrics-{run}-*"))
    if name != "bubblewrap":
        assert not [found for found, labels in Engine().containers("rubrics.run") if labels["rubrics.run"] == run]


def test_sweeping_leaves_a_living_process_its_folder(tmp_path: Path) -> None:
    state = State(tmp_path)
    assert sweep(tmp_path) == 0
    assert state.folder.is_dir()
    state.close()
    assert not state.folder.exists()


@pytest.mark.parametrize("name", BACKENDS)
def test_closing_leaves_nothing_either(name: str, base: None, repository: Path) -> None:
    environment = started_or_skipped(name)
    run = environment._state.run  # type: ignore[attr-defined]
    session = environment.open(small_task(repository), None)
    session.run("(setsid sleep 7654 &)", 30)
    session.close()
    environment.close()
    assert not (STATE / "runs" / run).exists()
    assert not any(run in point for point in mount_points())
    assert not list(Path("/sys/fs/cgroup").glob(f"*/rubrics-{run}-*"))
