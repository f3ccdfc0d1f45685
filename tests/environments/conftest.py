"""Backends for the tests; each is skipped with its reason where it cannot be had."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from environment_helpers import BACKENDS, small_task, started_or_skipped

from rubrics.environments.session import Environment
from rubrics.errors import InfraError


@pytest.fixture(scope="session", params=BACKENDS)
def environment(request: pytest.FixtureRequest, base: None) -> Iterator[Environment]:
    """Each backend in turn."""
    found = started_or_skipped(request.param)
    yield found
    found.close()


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The Debian that tests run in; skipped where it can neither be had nor built, or nothing isolates."""
    folder = tmp_path_factory.mktemp("base")
    (folder / "README").write_text("base\n")
    found = started_or_skipped("bubblewrap")
    try:
        found.open(small_task(folder), None).close()
    except InfraError as error:
        pytest.skip(f"no base root file system: {error}")
    finally:
        found.close()


@pytest.fixture(scope="session")
def bubblewrap(base: None) -> Iterator[Environment]:
    """The cheapest backend, for what is the same in all."""
    found = started_or_skipped("bubblewrap")
    yield found
    found.close()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A small Python repository with a bug and a test that passes."""
    folder = tmp_path / "repo"
    (folder / "tests").mkdir(parents=True)
    (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n\n\ndef zero():\n    return 0\n")
    (folder / "tests" / "test_calc.py").write_text(
        "from calc import zero\n\n\ndef test_zero():\n    assert zero() == 0\n"
    )
    return folder
