"""Bubblewrap for a user who may not mount: folders are copied, process limits stand in for control groups."""

from __future__ import annotations

import os
import subprocess
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
from environment_helpers import diff, rollout_of, small_task

from rubrics.environments.bubblewrap import Bubblewrap
from rubrics.environments.recipes import Places
from rubrics.environments.session import Limits
from rubrics.environments.state import State

NOBODY = 65534
CALC = "def add(a, b):\n    return a - b\n\n\ndef zero():\n    return 0\n"
FIX = diff("calc.py", CALC, CALC.replace("a - b", "a + b"))


def as_nobody(body: Callable[[], None]) -> str:
    """What `body` raised in a child process of another user; empty when nothing."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        said = b""
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            body()
        except BaseException:
            said = traceback.format_exc().encode()
        os.write(write, said[-60_000:])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        found = pipe.read().decode()
    os.waitpid(child, 0)
    return found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder of that user's own."""
    if os.geteuid() != 0:
        pytest.skip("only root may become somebody else; whoever runs this as another user tests it anyway")
    tried = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "bwrap", "--unshare-all"]
    try:
        done = subprocess.run([*tried, "--ro-bind", "/", "/", "true"], capture_output=True, text=True)
    except FileNotFoundError as error:
        pytest.skip(f"{error.filename} is not installed")
    if done.returncode != 0:
        pytest.skip(f"other users may not make user namespaces here: {done.stderr.strip()[-200:]}")
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o011)
    mine = tmp_path / "mine"
    mine.mkdir()
    os.chown(mine, NOBODY, NOBODY)
    return mine


def test_a_user_who_is_not_root_gets_a_sandbox_with_limits_and_nothing_stays(place: Path, repository: Path) -> None:
    for path in (repository, *repository.rglob("*")):
        os.chown(path, NOBODY, NOBODY)

    def body() -> None:
        environment = Bubblewrap(Places(), Limits(), State(place / "state"))
        task = small_task(repository, recipe='{"base": "host"}')
        session = environment.open(task, rollout_of(task, FIX))
        assert session.rung == "repository+patch"
        assert b"a + b" in session.read("calc.py")
        assert session.run("exit 7", 20).exit_code == 7
        assert session.run("cat /proc/net/dev | tail -n +3 | grep -v lo:", 20).output == ""
        assert session.run(f"ls {place} || touch /usr/x", 20).exit_code != 0
        assert session.run("trap '' TERM; while :; do :; done", 1).limit == "time"
        assert session.run("python3 -c 'bytearray(3 << 30)'", 60).exit_code != 0
        kept = environment.save(session, "somebody")
        session.close()
        assert environment.stands(kept, task)
        again = environment.open(task, None, saved=kept)
        assert (again.rung, b"a + b" in again.read("calc.py")) == ("prepared", True)
        again.close()
        environment.close()
        assert list((place / "state" / "runs").iterdir()) == []

    assert as_nobody(body) == ""
