"""An engine that is missing, dies in mid-run or runs out of disk is `infra`, whatever the tests would have said."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import socket
import tempfile
import threading
from pathlib import Path

import pytest
from environment_helpers import diff, rollout_of, small_task, started_or_skipped

from rubrics.environments.choose import available, choose
from rubrics.environments.docker_rollouts import DockerEnvironment
from rubrics.environments.mounts import may_mount, tmpfs, unmount
from rubrics.environments.recipes import Places
from rubrics.environments.session import Limits
from rubrics.errors import InfraError, UsageError
from rubrics.records.tasks import Sealed, SealedTask
from rubrics.testing.run import run_tests, uncalibrated

CALC = "def add(a, b):\n    return a - b\n\n\ndef zero():\n    return 0\n"


def test_a_docker_engine_that_is_not_there_is_infra_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    with pytest.raises(InfraError, match="use --env bubblewrap") as caught:
        choose("docker", Places(), Limits(), root=tmp_path)
    assert caught.value.kind == "no_engine"


def test_without_docker_auto_takes_bubblewrap_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started_or_skipped("bubblewrap").close()
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    environment, said = choose("auto", Places(), Limits(), root=tmp_path)
    assert environment.name == "bubblewrap"
    assert "no Docker engine answers" in said
    environment.close()


def test_without_any_engine_auto_is_infra_and_never_a_bare_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InfraError, match="bubblewrap is not installed") as caught:
        choose("auto", Places(), Limits(), root=tmp_path)
    assert caught.value.kind == "no_engine"


def test_a_doctor_is_told_which_backend_can_be_used_and_what_keeps_the_other_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started_or_skipped("bubblewrap").close()
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    docker, bubblewrap = available(tmp_path)
    assert docker[:2] == ("docker", False)
    assert "start one" in docker[2]
    assert bubblewrap[:2] == ("bubblewrap", True)


def test_a_bare_process_needs_the_users_word_that_the_data_is_trusted(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--trusted"):
        choose("bare", Places(), Limits(), root=tmp_path)


def test_a_bare_process_runs_a_trusted_repository(tmp_path: Path, repository: Path) -> None:
    environment, _ = choose("bare", Places(), Limits(), trusted=True, root=tmp_path / "state")
    task = small_task(repository, recipe=None)
    session = environment.open(task, rollout_of(task, diff("calc.py", CALC, CALC.replace("a - b", "a + b"))))
    assert session.rung == "repository+patch"
    assert session.run("grep -c 'a + b' calc.py; exit 5", 20).exit_code == 5
    late = session.run("trap '' TERM; while :; do :; done", 1)
    assert (late.exit_code, late.limit) == (None, "time")
    session.close()
    environment.close()
    assert "a - b" in (repository / "calc.py").read_text()


@pytest.mark.parametrize("mode", ["docker", "docker-per-image"])
def test_a_container_that_vanishes_in_mid_run_is_infra(mode: str, base: None, repository: Path) -> None:
    environment = started_or_skipped(mode)
    assert isinstance(environment, DockerEnvironment)
    session = environment.open(small_task(repository), None)
    name = session.run("cat /etc/hostname", 20).output.strip()
    environment.engine.remove(name)
    with pytest.raises(InfraError, match="the container is") as caught:
        session.run("true", 20)
    assert caught.value.kind == "engine_died"
    session.close()
    environment.close()


class Door:
    """A socket in front of the engine's; slammed, it is to the client what a killed engine is."""

    def __init__(self, place: Path, engine: str) -> None:
        self._engine = engine
        self._open: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(place))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                inner, _ = self._listener.accept()
                outer = socket.socket(socket.AF_UNIX)
                outer.connect(self._engine)
                self._open += [inner, outer]
                for source, target in ((inner, outer), (outer, inner)):
                    threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    @staticmethod
    def _carry(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def slam(self) -> None:
        for end in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@pytest.mark.parametrize("mode", ["docker", "docker-per-image"])
def test_an_engine_that_dies_in_mid_run_is_infra_and_its_containers_go_with_the_next_start(
    mode: str, base: None, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started_or_skipped(mode).close()
    engine = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if not engine.startswith("unix://"):
        pytest.skip(f"the engine at {engine} has no local socket")
    with monkeypatch.context() as patched:
        place = Path(tempfile.mkdtemp()) / "engine.sock"
        door = Door(place, engine.removeprefix("unix://"))
        patched.setenv("DOCKER_HOST", f"unix://{place}")
        environment = started_or_skipped(mode)
        assert isinstance(environment, DockerEnvironment)
        run = environment._state.run
        session = environment.open(small_task(repository), None)
        threading.Timer(0.5, door.slam).start()
        with pytest.raises(InfraError, match="does not answer any more") as caught:
            session.run("sleep 30", 60)
        assert caught.value.kind == "engine_died"
        session.close()
        environment.close()
    found = started_or_skipped(mode)
    assert isinstance(found, DockerEnvironment)
    assert run not in {labels["rubrics.run"] for _, labels in found.engine.containers("rubrics.run")}
    found.close()


def test_a_full_disk_is_infra_and_nothing_is_started_on_it(base: None, repository: Path, tmp_path: Path) -> None:
    """The state folder lies on a disk of 64 MiB, which something else fills."""
    if not may_mount():
        pytest.skip("needs root to mount a small disk")
    small = tmp_path / "small"
    small.mkdir()
    tmpfs(small, 64 << 20)
    try:
        environment = started_or_skipped("bubblewrap", dataclasses.replace(Limits(), free_disk=16 << 20), small)
        task = small_task(repository, recipe='{"base": "host"}', test_command="true")
        plan = uncalibrated(environment, task, SealedTask("t", Sealed("")))
        (small / "other").write_bytes(bytes(60 << 20))
        done = run_tests(environment, task, plan, rollout_of(task, ""), 60.0)
        assert done.outcome == "infra"
        assert "disk_full" in done.detail
        environment.close()
    finally:
        unmount(small)


def test_a_rollout_that_fills_its_own_disk_fails_and_the_machines_disk_does_not(base: None, repository: Path) -> None:
    if not may_mount():
        pytest.skip("needs root for overlays of bounded size")
    limits = dataclasses.replace(Limits(), disk=64 << 20)
    environment = started_or_skipped("bubblewrap", limits)
    task = small_task(repository, test_command="head -c 200000000 /dev/zero > big")
    plan = uncalibrated(environment, task, SealedTask("t", Sealed("")))
    done = run_tests(environment, task, plan, rollout_of(task, ""), 60.0)
    assert done.outcome == "failed"
    environment.close()


def test_a_state_folder_that_cannot_be_made_is_infra(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InfraError, match="file"):
        choose("bubblewrap", Places(), Limits(), root=tmp_path / "file" / "below")


def test_an_image_archive_that_is_cut_short_is_infra(base: None, tmp_path: Path, repository: Path) -> None:
    broken = tmp_path / "image.tar"
    broken.write_bytes(os.urandom(2048))
    environment = started_or_skipped("bubblewrap")
    task = small_task(repository, image=str(broken), recipe=None)
    task = dataclasses.replace(task, repository=None)
    with pytest.raises(InfraError, match="cannot be unpacked"):
        environment.open(task, None)
    environment.close()
