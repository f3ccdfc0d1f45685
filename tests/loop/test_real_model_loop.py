"""A real small model in every role, on published rollouts: whatever it says, nothing is made up from it.

Runs with `RUBRICS_REAL_MODEL=1` where the packages of the group `real-model` are installed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from loop.real_loop import census, invented
from loop.real_model_loop import CONTEXT, REPEATS, run_small
from model_server.real import installed, real_model


def test_what_a_small_model_says_counts_or_has_a_class(real: Path, tmp_path: Path) -> None:
    if os.environ.get("RUBRICS_REAL_MODEL") != "1":
        pytest.skip("asks a real model for a quarter of an hour; RUBRICS_REAL_MODEL=1 runs it")
    if not installed():
        pytest.skip("the packages of the dependency group real-model are not installed")
    with real_model(CONTEXT, 1) as model:
        store = run_small(tmp_path / "store", real, model)
    print("\n".join(census(store)))
    assert store.count("judgements") == 10 * REPEATS
    assert invented(store) == []
    for row in store.rows("grades", where="judge LIKE 'single:%'"):
        assert (row["value"] is None) == (row["failure_class"] is not None)
