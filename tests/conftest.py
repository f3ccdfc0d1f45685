"""What several tests use: where the published rollouts lie."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
REAL = (Path("/work/shared/real"), ROOT.parent / "shared" / "real")


@pytest.fixture(scope="session")
def real() -> Path:
    """Folder of rollouts published by others; the test is skipped where it is absent."""
    for place in REAL:
        if place.is_dir():
            return place
    pytest.skip(f"no published rollouts at {' or '.join(str(place) for place in REAL)}")
