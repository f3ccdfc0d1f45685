"""The engine's own disk is full: what a command says then is believed by nobody."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import tempfile
from collections.abc import Iterator
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
from rubrics.testing.run import run_tests, uncalibrated

LIMITS = dataclasses.replace(Limits(), free_disk=16 << 20)


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


def test_a_full_disk_of_the_engine_is_infra_whoever_filled_it(small_engine: Path, tmp_path: Path) -> None:
    root = tiny_root(tmp_path / "root")
    (root / "testbed" / "kept").write_text("")
    environment = DockerEnvironment(Places(), LIMITS, State(tmp_path / "state"))
    task = dataclasses.replace(
        small_task(tmp_path, image=str(root), workdir="/testbed", test_command="head -c 400000000 /dev/zero > big"),
        repository=None, recipe=None,
    )  # fmt: skip
    try:
        plan = uncalibrated(environment, task, SealedTask("t", Sealed("")))
        done = run_tests(environment, task, plan, rollout_of(task, ""), 60.0)
        assert (done.outcome, "disk_full" in done.detail) == ("infra", True), done.detail
        small = dataclasses.replace(plan, command="echo fine > small")
        assert run_tests(environment, task, small, rollout_of(task, ""), 60.0).outcome == "passed"
        with open(small_engine / "other", "wb") as other:
            os.posix_fallocate(other.fileno(), 0, os.statvfs(small_engine).f_bavail * 4096 - (8 << 20))
        with pytest.raises(InfraError, match="free some space") as caught:
            environment.open(task, None)
        assert caught.value.kind == "disk_full"
    finally:
        environment.close()
