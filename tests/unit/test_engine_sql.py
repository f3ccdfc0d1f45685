"""The views of data/views/checks state every formula once more, in SQL; they and the engine agree to 1e-9."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from engine_store import random_store

from rubrics.stages.pipeline import run_stages
from rubrics.stages.stage import run_here
from rubrics.store.store import Store

SEEDS = range(2)
CONFIGS = {
    "defaults": "",
    "group": 'routing = "group"\nestimator = "leave_one_out"\n[length]\nquantile = 0.5\ntolerance = 0.1\n',
    "grs": 'routing = "grs"\nestimator = "std"\nfactors = ["behavior"]\n[length]\npenalty = 0.9\ngate = 0.1\n',
    "tight": 'grs_from = 1.0\n[gar]\ncap = 1.1\n[length]\npenalty = 0.9\nmeasures = ["output_tokens"]\ngate = 0\n'
    "[tokens]\nkappa = 3\nbeta_min = 0.9\nalpha_max = 1.05\n",
}
CASES = """
SELECT
  count(*) AS rows, count(*) FILTER (length_penalty > 0) AS shortened, count(*) FILTER (hack = 'confirmed') AS hacks,
  count(*) FILTER (reward IS NULL) AS masked, count(*) FILTER (NOT kept) AS dropped, count(within_noise) AS noise_known,
  count(*) FILTER (route = 'grs' AND status = 'ungraded') AS ungraded, count(*) FILTER (length_floored) AS floored,
  count(*) FILTER (route = 'gar' AND capped) AS capped, count(*) FILTER (route = 'gar' AND NOT capped) AS not_capped,
  count(*) FILTER (ranking = 'used') AS used, count(*) FILTER (ranking = 'unusable') AS unusable,
  count(*) FILTER (tier = 1) AS first, count(*) FILTER (tier = 2) AS second, count(*) FILTER (tier = 3) AS third
FROM rewards
"""
ABSENT = {
    "grs": {"capped", "not_capped", "used", "unusable", "first", "second", "third"},
    "defaults": {"floored"},
    "group": {"floored"},
    "tight": {"ungraded"},
}
COEFFICIENTS = ("alpha", "beta", "mass_positive", "mass_positive_after", "mass_negative", "mass_negative_after")


def rewarded(folder: Path, seed: int, config: str) -> Store:
    folder.mkdir()
    store = random_store(folder / "store", seed, tasks=50)
    file = folder / "config.toml"
    file.write_text(CONFIGS[config], "utf-8")
    run_stages(("reward",), {"store": str(folder / "store"), "config": str(file)}, run_here)
    return store


@pytest.mark.parametrize("config", CONFIGS)
def test_engine_and_views_agree_on_random_stores_that_hold_every_case(tmp_path: Path, config: str) -> None:
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        store = rewarded(tmp_path / str(seed), seed, config)
        assert store.query("FROM check_rewards").to_pylist() == []
        assert_same_coefficients(store)
        seen.update(store.query(CASES).to_pylist()[0])
    lacking = {name for name, number in seen.items() if number < 3} - ABSENT.get(config, set())
    assert not lacking, seen


def assert_same_coefficients(store: Store) -> None:
    order = f"SELECT policy, policy_step, {', '.join(COEFFICIENTS)} FROM {{}} ORDER BY policy, policy_step"
    stored, computed = (store.query(order.format(name)).to_pylist() for name in ("token_batches", "check_tokens"))
    assert len(stored) > 2
    assert [(row["policy"], row["policy_step"]) for row in stored] == [
        (row["policy"], row["policy_step"]) for row in computed
    ]
    for name in COEFFICIENTS:
        one, other = [row[name] for row in stored], [row[name] for row in computed]
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9, err_msg=name)


def test_a_changed_number_is_found(tmp_path: Path) -> None:
    store = rewarded(tmp_path / "store", 3, "defaults")
    rows = store.rows("rewards")
    touched = next(row for row in rows if row["advantage"])
    touched["advantage"] += 1e-6
    with store.writing() as run:
        run.append("rewards", rows)
    found = store.query("FROM check_rewards").to_pylist()
    assert [(row["rollout_id"], row["name"]) for row in found] == [(touched["rollout_id"], "advantage")]
