"""What a rollout's environment costs: set-up, one command, tear-down; each way in turn, round by round, in one run."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rubrics.environments.bubblewrap import Bubblewrap
from rubrics.environments.docker_rollouts import DockerEnvironment
from rubrics.environments.recipes import Places
from rubrics.environments.session import Environment, Limits
from rubrics.environments.state import State
from rubrics.errors import InfraError
from rubrics.records.tasks import Task

pytestmark = pytest.mark.benchmark

CACHE = Path(os.environ.get("RUBRICS_TEST_CACHE") or Path(tempfile.gettempdir()) / "rubrics-test-cache")
RECIPE = {"base": "debian:bullseye", "packages": ["python3-tz", "python3-simplejson", "python3-dateutil"]}
ROUNDS = 15
BAR = 10.0
"""Per image and bubblewrap cost at most a tenth of the naive cycle (issue 4)."""


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Callable[[], None]]]:
    folder = tmp_path_factory.mktemp("bench")
    for number in range(200):
        (folder / f"module_{number}.py").write_text("x = 1\n" * 200)
    task = Task("t", None, None, None, repository=str(folder), recipe=json.dumps(RECIPE))
    opened: dict[str, Environment] = {}
    try:
        for name, per_image in (("docker per rollout", False), ("docker per image", True)):
            opened[name] = DockerEnvironment(Places(), Limits(), State(CACHE / "state"), per_image=per_image)
        opened["bubblewrap"] = Bubblewrap(Places(), Limits(), State(CACHE / "state"))
        for environment in opened.values():
            cycle(environment, task)
    except InfraError as error:
        pytest.skip(str(error))
    docker = opened["docker per rollout"]
    assert isinstance(docker, DockerEnvironment)
    image = next(iter(docker._images._ready.values())).image_id
    yield {"naive": lambda: naive(image), **{name: with_task(found, task) for name, found in opened.items()}}
    for environment in opened.values():
        environment.close()


def with_task(environment: Environment, task: Task) -> Callable[[], None]:
    return lambda: cycle(environment, task)


def cycle(environment: Environment, task: Task) -> None:
    session = environment.open(task, None)
    done = session.run("true", 30)
    assert done.exit_code == 0, done
    session.close()


def naive(image: str) -> None:
    """What one writes first: create, start, exec, remove by docker-py, without any lock-down."""
    import docker

    client = docker.from_env()
    container = client.containers.create(image, ["sleep", "3600"], network_mode="none")
    container.start()
    assert container.exec_run(["true"]).exit_code == 0
    container.remove(force=True)
    client.close()


def test_per_image_and_bubblewrap_cost_a_tenth_of_the_naive_cycle(ways: dict[str, Callable[[], None]]) -> None:
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            started = time.perf_counter()
            way()
            taken[name].append((time.perf_counter() - started) * 1000)
    print(
        f"\n{'set-up + one command + tear-down':34} {'median ms':>10} {'min ms':>8} {'times cheaper, pair by pair':>28}"
    )
    ratios = {}
    for name, times in taken.items():
        ratios[name] = statistics.median(first / own for first, own in zip(taken["naive"], times, strict=True))
        print(f"{name:34} {statistics.median(times):10.1f} {min(times):8.1f} {ratios[name]:28.1f}")
    assert ratios["docker per image"] >= BAR
    assert ratios["bubblewrap"] >= BAR
