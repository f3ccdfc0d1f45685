"""What several tests use: where the published rollouts lie, the store of the sample, text compared with a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rubrics.store.store import Store

ROOT = Path(__file__).resolve().parents[1]
REAL = ROOT.parent / "shared" / "real"
STAGES = ("ingest", "facts", "synthesize", "score", "reward")


@pytest.fixture(scope="session")
def real() -> Path:
    """Folder of rollouts published by others; the test is skipped where it is absent."""
    if not REAL.is_dir():
        pytest.skip(f"no published rollouts at {REAL}")
    return REAL


@pytest.fixture(scope="session")
def sample_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The sample's store, made by the stages themselves without an orchestrator. Tests only read it."""
    from rubrics.stages.pipeline import run_stages
    from rubrics.stages.stage import run_here

    root = tmp_path_factory.mktemp("sample") / "store"
    dumps = [str(ROOT / "data" / "sample" / name) for name in ("tasks.jsonl", "runs", "outcomes.json")]
    run_stages(STAGES, {"store": str(root), "dumps": dumps}, run_here)
    return Store.open(root)


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with `tests/golden/<name>`; `REWRITE_GOLDEN=1` writes the file instead."""

    def compare(name: str, text: str) -> None:
        path = ROOT / "tests" / "golden" / name
        if os.environ.get("REWRITE_GOLDEN"):
            path.write_text(text, "utf-8")
        assert text == path.read_text("utf-8"), f"{path} says otherwise; `make golden` rewrites it"

    return compare
