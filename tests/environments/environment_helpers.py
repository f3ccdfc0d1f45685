"""What the tests of environments share: a base that is built once, tasks on it, rollouts with a patch."""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from rubrics.environments.bubblewrap import Bubblewrap
from rubrics.environments.docker_rollouts import DockerEnvironment
from rubrics.environments.recipes import Places
from rubrics.environments.session import Environment, Limits
from rubrics.environments.state import State
from rubrics.errors import InfraError
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Task

CACHE = Path(os.environ.get("RUBRICS_TEST_CACHE") or Path(tempfile.gettempdir()) / "rubrics-test-cache")
"""Downloads and images, outside the repository, kept between runs."""
STATE = CACHE / "state"
BACKENDS = ("docker", "docker-per-image", "bubblewrap")
RECIPE = {"base": "debian:bullseye", "packages": ["python3-tz", "python3-simplejson", "python3-dateutil"]}


def rollout_of(task: Task, patch: str | None, snapshot: str | None = None) -> Rollout:
    """A rollout that is nothing but its patch."""
    return Rollout(
        "r", "c", None, task.task_id, "g", None, None, "run", 0, "native", patch, None, None, None, None, None,
        snapshot, None, "",
    )  # fmt: skip


def small_task(folder: Path, **more: object) -> Task:
    """A task whose repository is a folder; `more` are fields of the task."""
    values = {"repository": str(folder), "recipe": json.dumps(RECIPE), **more}
    return Task("t", None, None, None, **values)  # type: ignore[arg-type]


def diff(path: str, before: str, after: str) -> str:
    """A git diff of one file; an empty `before` makes a new file."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    body = "".join(difflib.unified_diff(old, new, f"a/{path}" if before else "/dev/null", f"b/{path}"))
    head = f"diff --git a/{path} b/{path}\n" + ("" if before else "new file mode 100644\n")
    return head + body


def tiny_root(folder: Path, more: Sequence[str] = ()) -> Path:
    """A root file system of a few megabytes: a shell, some programs of this machine, and their libraries; `more` are
    further programs."""
    names = ("sh", "cat", "cp", "chmod", "mkdir", "rm", "dd", "ls", "head", "find", "sha256sum", "env", "dirname")
    sources = {f"bin/{name}": found for name in (*names, *more) if (found := shutil.which(name))}
    linked = subprocess.run(["ldd", *sources.values()], capture_output=True, text=True, check=True).stdout
    sources |= {path.lstrip("/"): path for path in re.findall(r"(/\S+) \(0x", linked)}
    for place, source in sources.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, folder / place)
    for name in ("tmp", "var/tmp", "root", "proc", "dev", "sys", "etc", "testbed"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return folder


def started(name: str, limits: Limits | None = None, root: Path = STATE) -> Environment:
    """A backend. Raises `InfraError` where it cannot be had."""
    state = State(root)
    limits = limits or Limits()
    if name == "bubblewrap":
        return Bubblewrap(Places(), limits, state)
    return DockerEnvironment(Places(), limits, state, per_image=name == "docker-per-image")


def started_or_skipped(name: str, limits: Limits | None = None, root: Path = STATE) -> Environment:
    try:
        return started(name, limits, root)
    except InfraError as error:
        pytest.skip(f"{name}: {error}")
