"""Open environments for the tests of agents; each backend in turn, skipped with its reason where it cannot be had."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from agents.places import BACKENDS, laid_out, started
from environments.environment_helpers import small_task

from rubrics.environments.session import Environment, Session


@pytest.fixture(scope="session", params=BACKENDS)
def environment(request: pytest.FixtureRequest, repository: Path) -> Iterator[Environment]:
    """Each backend in turn."""
    with started(request.param, repository) as found:
        yield found


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return laid_out(tmp_path_factory.mktemp("agents") / "repo")


@pytest.fixture
def session(environment: Environment, repository: Path) -> Iterator[Session]:
    opened = environment.open(small_task(repository), None)
    yield opened
    opened.close()
