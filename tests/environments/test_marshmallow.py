"""Two public tasks for real: base fails, the reference passes, all ten attempts give their recorded outcomes.

Their base trees are source distributions from PyPI, fetched once into a cache outside the repository.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from environment_helpers import CACHE, rollout_of, small_task

from rubrics.environments.session import Environment
from rubrics.records.tasks import Sealed, SealedTask, Task
from rubrics.testing.gates import check_task
from rubrics.testing.plan import TestPlan
from rubrics.testing.run import prepare_tests, run_tests

TASKS = {
    "marshmallow-code__marshmallow-1343": ("2.20.0", "tests/test_marshalling.py"),
    "marshmallow-code__marshmallow-1359": ("3.0.0", "tests/test_fields.py"),
}


def sdist(version: str) -> Path:
    """The source distribution; the test is skipped where it cannot be fetched."""
    folder = CACHE / "sdists"
    target = folder / f"marshmallow-{version}.tar.gz"
    if not target.exists():
        tools = folder / "tools"
        python = tools / "bin" / "python"
        pip = [str(python), "-m", "pip", "-q"]
        fetch = ["download", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "-d", str(folder)]
        for command in (
            [sys.executable, "-m", "venv", str(tools)],
            [*pip, "install", "setuptools<69", "wheel"],
            [*pip, *fetch, f"marshmallow=={version}"],
        ):
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            if done.returncode != 0:
                pytest.skip(f"marshmallow {version} cannot be fetched: {done.stderr.strip()[-200:]}")
    return target


@pytest.fixture(scope="module", params=TASKS)
def case(request: pytest.FixtureRequest, real: Path, environment: Environment) -> dict[str, Any]:
    version, tests = TASKS[request.param]
    lines = (real / "specs.jsonl").read_text("utf-8").splitlines()
    row = next(row for row in map(json.loads, lines) if row["instance_id"] == request.param)
    task = small_task(
        sdist(version),
        test_command=f"PYTHONPATH=src python -m pytest -rA {tests}",
        fail_to_pass=tuple(json.loads(row["FAIL_TO_PASS"])),
        pass_to_pass=tuple(json.loads(row["PASS_TO_PASS"])),
    )
    sealed = SealedTask(task.task_id, Sealed(row["test_patch"]), Sealed(row["patch"]))
    plan = prepare_tests(environment, task, sealed, 300.0)
    outcomes = json.loads((real / "outcomes.json").read_text("utf-8"))[request.param]
    patches = {}
    for run in outcomes:
        file = real / "mini-swe-agent" / run / request.param / f"{request.param}.traj.json"
        if file.exists():
            patches[run] = json.loads(file.read_bytes())["info"]["submission"]
    return {"task": task, "sealed": sealed, "plan": plan, "outcomes": outcomes, "patches": patches}


def outcome(environment: Environment, task: Task, plan: TestPlan, patch: str) -> str:
    return run_tests(environment, task, plan, rollout_of(task, patch), 300.0).outcome


def test_every_attempt_gives_its_recorded_outcome(environment: Environment, case: dict[str, Any]) -> None:
    found = {run: outcome(environment, case["task"], case["plan"], patch) for run, patch in case["patches"].items()}
    wanted = {run: "passed" if case["outcomes"][run]["resolved"] else "failed" for run in found}
    assert found == wanted
    assert len(found) == 5


def test_the_gates_pass_the_start_fails_and_the_reference_passes(
    environment: Environment, case: dict[str, Any]
) -> None:
    if getattr(environment, "_per_image", False):
        pytest.skip("the same engine as with a container each; its attempts are run above")
    gates = check_task(environment, case["task"], case["sealed"], 300.0, reruns=4)
    assert (gates.start_fails, gates.reference_passes, gates.stable) == (True, True, True), gates.detail
