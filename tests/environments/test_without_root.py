"""Bubblewrap for a user who may not mount: folders are copied, process limits stand in for control groups."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

NOBODY = 65534


@pytest.fixture
def place() -> Iterator[Path]:
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
    mine = Path(tempfile.mkdtemp(prefix="rubrics-nobody-"))  # nobody else may enter what pytest makes
    os.chown(mine, NOBODY, NOBODY)
    yield mine
    shutil.rmtree(mine)


def test_a_user_who_is_not_root_gets_a_sandbox_with_limits_and_nothing_stays(place: Path, repository: Path) -> None:
    mine = place / "repo"
    shutil.copytree(repository, mine)
    for path in (mine, *mine.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    script = Path(__file__).with_name("nobody_opens.py")
    command = [sys.executable, str(script), str(NOBODY), str(place), str(mine)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
