"""A store of the sample with its facts, made once, and a copy of it for each test; skipped without bubblewrap."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from authoring_helpers import SAMPLE, SPANS, sample_store

from rubrics.stages.preparing import run_prepare
from rubrics.stages.stage import run_here
from rubrics.store.store import Store


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Facts of the sample, and the environment of one task prepared."""
    root = sample_store(tmp_path_factory.mktemp("authoring") / "store").paths.root
    if shutil.which("bwrap") is not None:
        run_prepare({"store": str(root), "tasks": SPANS, "env": "bubblewrap", "data": [str(SAMPLE)]}, run_here)
    return root


@pytest.fixture
def store(measured: Path, tmp_path: Path) -> Store:
    """Facts of the sample, no rubrics yet."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    return Store.open(Path(shutil.copytree(measured, tmp_path / "store")))
