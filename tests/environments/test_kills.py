"""A process killed with `kill -9` wherever it is: what it left is gone once the next one has started."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from environment_helpers import started, started_or_skipped, tiny_root
from stops_at import tasks

from rubrics.digests import digest128
from rubrics.environments.docker_engine import REPOSITORY, STATE_LABEL, Engine
from rubrics.environments.docker_images import _BAKE
from rubrics.environments.images import Images
from rubrics.environments.mounts import may_mount, mount_points
from rubrics.environments.recipes import Places
from rubrics.environments.state import State, sweep
from rubrics.errors import InfraError

HERE = Path(__file__).parent
E = "rubrics.environments"
POINTS = [
    *[("bubblewrap", point, when) for point, when in [
        (f"{E}.mounts:tmpfs", "after"), (f"{E}.mounts:overlay", "after"), (f"{E}.cgroups:CGroup._make", "after"),
        (f"{E}.sandbox:put_shell", "before"), (f"{E}.sandbox:Sandbox._started", "after"),
        (f"{E}.sandbox:_end", "before"),
        (f"{E}.images:place_repository", "after"), (f"{E}.state:remove_cgroup", "before"),
    ]],
    *[("docker", point, when) for point, when in [
        (f"{E}.docker_engine:subprocess.run", "after"), (f"{E}.docker_engine:Engine.create", "after"),
        (f"{E}.docker_engine:Engine.start", "after"), (f"{E}.docker_engine:Engine.commit", "after"),
        (f"{E}.docker_engine:Engine.remove", "before"),
    ]],
    *[("docker-per-image", point, when) for point, when in [
        (f"{E}.slots:Slot._make_places", "after"), (f"{E}.slots:_copy_out", "after"),
        (f"{E}.slots:Slot.enter", "after"),
        (f"{E}.slots:Slot.leave", "before"), (f"{E}.mounts:unmount", "after"),
    ]],
]  # fmt: skip


@pytest.fixture
def image(tmp_path: Path) -> Iterator[Path]:
    """A root file system that no engine has seen; what one made of it is removed."""
    root = tiny_root(tmp_path / "root")
    (root / "testbed" / "mark").write_text(uuid.uuid4().hex)
    yield root
    with suppress(InfraError), closing(State(tmp_path / "other")) as state:
        engine, name = Engine(), digest128(["folder", Images(state, Places()).content(root)])
        found = engine.image(f"{REPOSITORY}:{name}").image_id
        engine.remove_image(f"{REPOSITORY}:{digest128(['shell', found, _BAKE])}")
        engine.remove_image(found)


@pytest.mark.parametrize(("backend", "point", "when"), POINTS, ids=[f"{b}-{p.split(':')[1]}" for b, p, _ in POINTS])
def test_after_a_kill_at_any_step_the_next_start_finds_and_leaves_nothing(
    backend: str, point: str, when: str, base: None, tmp_path: Path, repository: Path, image: Path
) -> None:
    """What was packed for the engine stayed in /tmp, as large as the image."""
    started_or_skipped(backend).close()
    if not may_mount():
        pytest.skip("needs root for mounts and control groups")
    state, temporary = tmp_path / "state", tmp_path / "tmp"
    temporary.mkdir()
    paths = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, str(HERE / "stops_at.py"), point, when, backend, str(state), str(repository), str(image)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths, "TMPDIR": str(temporary)}
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        os.kill(process.pid, signal.SIGKILL)
    with closing(started(backend, root=state)) as environment:
        for task in tasks(repository, image):
            with closing(environment.open(task, None)) as session:
                assert session.run("echo fine", 20).output == "fine\n"
    assert list((state / "runs").iterdir()) == []
    assert not [point for point in mount_points() if point.startswith(str(tmp_path))]
    assert list(temporary.iterdir()) == []
    if backend != "bubblewrap":
        assert not Engine().containers(f"{STATE_LABEL}={state}")


DEBOOTSTRAP = """#!/bin/sh
for target; do case $target in /*) break;; esac; done
mkdir -p "$target/proc" "$target/half"
if [ -e "$MARKS/finish" ]; then echo whole > "$target/whole"; exit 0; fi
mount -t proc proc "$target/proc"
(sleep 7655 &)
echo "$target" > "$MARKS/begun"
sleep 7655
"""


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of marks, and a debootstrap that mounts /proc where it builds and is never done."""
    if not may_mount():
        pytest.skip("needs root to build")
    program = tmp_path / "bin" / "debootstrap"
    program.parent.mkdir()
    program.write_text(DEBOOTSTRAP)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    marks = tmp_path / "marks"
    marks.mkdir()
    monkeypatch.setenv("MARKS", str(marks))
    return marks


BUILD = """
import sys
from pathlib import Path
from rubrics.environments.images import Images
from rubrics.environments.recipes import Places
from rubrics.environments.state import State
print(Images(State(Path(sys.argv[1])), Places()).debian("debian:none", ())[1], flush=True)
"""


def sleepers() -> int:
    done = subprocess.run(["pgrep", "-fx", "sleep 7655"], capture_output=True, text=True)
    return len(done.stdout.split())


def test_a_build_ends_with_its_process_and_nothing_of_it_stays(builder: Path, tmp_path: Path) -> None:
    """debootstrap went on alone, and the machine's /proc stayed mounted where images are kept."""
    state = tmp_path / "state"
    with subprocess.Popen([sys.executable, "-c", BUILD, str(state)]) as process:
        begun = builder / "begun"
        while not begun.exists():
            assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
    for _ in range(2000):
        if not sleepers():
            break
    assert sleepers() == 0
    assert not [point for point in mount_points() if point.startswith(str(tmp_path))]
    assert sweep(state) == 1
    assert not [path for path in state.rglob("*") if path.name == "half"]
    (builder / "finish").write_text("")
    done = subprocess.run([sys.executable, "-c", BUILD, str(state)], capture_output=True, text=True, check=True)
    assert (Path(done.stdout.strip()) / "whole").read_text() == "whole\n"
