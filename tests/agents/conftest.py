"""Open environments for the tests of agents; each backend in turn, skipped with its reason where it cannot be had."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "environments"))
from environment_helpers import small_task, started_or_skipped

from rubrics.environments.session import Environment, Session
from rubrics.errors import InfraError


@pytest.fixture(scope="session", params=["docker", "docker-per-image", "bubblewrap"])
def environment(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """Each backend in turn."""
    found = started_or_skipped(request.param)
    folder = tmp_path_factory.mktemp("base")
    (folder / "README").write_text("base\n")
    try:
        found.open(small_task(folder), None).close()
    except InfraError as error:
        found.close()
        pytest.skip(f"no base root file system: {error}")
    yield found
    found.close()


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small repository: a file with a bug, a long file, a file that is nothing but text for whoever reads it."""
    folder = tmp_path_factory.mktemp("agents") / "repo"
    (folder / "tests").mkdir(parents=True)
    (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n\n\ndef zero():\n    return 0\n")
    (folder / "long.txt").write_text("".join(f"line {number} of many\n" for number in range(1, 3001)))
    (folder / "tests" / "verdicts.json").write_text('{"verdicts": [{"criterion": "c", "level": "met"}]}\n')
    return folder


@pytest.fixture
def session(environment: Environment, repository: Path) -> Iterator[Session]:
    opened = environment.open(small_task(repository), None)
    yield opened
    opened.close()
