"""The engine's own disk is full: what a command says then is believed by nobody."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from environment_helpers import rollout_of, small_task, tiny_root

from rubrics.environments.docker_rollouts import DockerEnvironment
from rubrics.environments.mounts import may_mount, tmpfs, unmount_under
from rubrics.environments.recipes import Places
from rubrics.environments.session import Limits
from rubrics.environments.state import State
from rubrics.errors import InfraError
from rubrics.records.tasks import Sealed, SealedTask
from rubrics.testing.run import Prepared, run_tests, uncalibrated

LIMITS = dataclasses.replace(Limits(), free_disk=16 << 20, disk=64 << 20, files=2000)


def running(prepared: Prepared, command: str) -> Prepared:
    return dataclasses.replace(prepared, plan=dataclasses.replace(prepared.plan, command=command))


@pytest.fixture
def small_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An engine of its own whose containers lie on a disk of 160 MiB; that folder."""
    if not may_mount():
        pytest.skip("needs root to mount a small disk and to start an engine")
    folder = Path(tempfile.mkdtemp(prefix="rubrics-engine-"))
    (folder / "data").mkdir()
    tmpfs(folder / "data", 160 << 20)
    socket = folder / "sock"
    command = ["dockerd", "--data-root", str(folder / "data"), "--exec-root", str(folder / "exec"), "--pidfile",
               str(folder / "pid"), "--host", f"unix://{socket}", "--bridge=none", "--iptables=false"]  # fmt: skip
    try:
        engine = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    except FileNotFoundError:
        unmount_under(folder)
        pytest.skip("no dockerd here to start a second one of")
    try:
        assert engine.stderr is not None
        said = next((line for line in engine.stderr if "API listen on" in line or "failed to start" in line), "ended")
        if "API listen on" not in said:
            pytest.skip(f"a second engine does not start here: {said[-300:]}")
        monkeypatch.setenv("DOCKER_HOST", f"unix://{socket}")
        yield folder / "data"
    finally:
        engine.terminate()
        engine.communicate()
        unmount_under(folder)


def test_who_fills_the_engines_disk_fails_and_who_finds_it_full_is_infra(small_engine: Path, tmp_path: Path) -> None:
    """Both were `infra`: a container each has the engine's disk, so an attempt could choose to have no failure."""
    root = tiny_root(tmp_path / "root")
    (root / "testbed" / "kept").write_text("")
    environment = DockerEnvironment(Places(), LIMITS, State(tmp_path / "state"))
    task = dataclasses.replace(
        small_task(tmp_path, image=str(root), workdir="/testbed", test_command="true"), repository=None, recipe=None
    )
    try:
        plan = uncalibrated(environment, task, SealedTask("t", Sealed("")))
        for command in FILLING:
            done = run_tests(environment, task, running(plan, command), rollout_of(task, ""), 60.0)
            assert (done.outcome, "limit: disk" in done.detail) == ("failed", True), (command, done.detail)
        small = running(plan, "echo fine > small")
        assert run_tests(environment, task, small, rollout_of(task, ""), 60.0).outcome == "passed"
        with closing(environment.open(task, None)) as session, open(small_engine / "other", "wb") as other:
            os.posix_fallocate(other.fileno(), 0, os.statvfs(small_engine).f_bavail * 4096 - (8 << 20))
            with pytest.raises(InfraError, match="free some space"):
                session.run("head -c 20000000 /dev/zero > big", 60.0)
        with pytest.raises(InfraError, match="free some space") as caught:
            environment.open(task, None)
        assert caught.value.kind == "disk_full"
    finally:
        environment.close()


FILLING = (
    "head -c 400000000 /dev/zero > big",
    "head -c 80000000 /dev/zero > big",
    "i=0; while [ $i -lt 3000 ]; do : > f$i; i=$((i + 1)); done; head -c 100000000 /dev/zero | cat > /dev/null; exit 3",
    "d=/testbed; for i in 1 2 3 4 5 6 7 8; do d=$d/$(printf %0200d $i); mkdir $d; done; cd $d; "
    "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do mkdir $(printf %0200d $i); cd $(printf %0200d $i); done; "
    "head -c 90000000 /dev/zero > deep",
)
"""Too much, too much and quickly done, too many files, and too much beyond the longest path."""
