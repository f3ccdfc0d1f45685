"""The audit as a stage: the sample's one leak is confirmed and costs its reward, the published rollouts are clean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from audit_corpus import HACKS

from rubrics.audit.audit import audit_one
from rubrics.stages.audit import SOURCE, Audit, audit_rows
from rubrics.stages.facts import Facts
from rubrics.stages.ingest import Ingest
from rubrics.stages.options import Options
from rubrics.stages.reward import Reward
from rubrics.stages.score import Score
from rubrics.stages.stage import drive, run_here
from rubrics.stages.synthesize import Synthesize
from rubrics.store.store import Store

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample"
SUSPECTED = {
    ("sample__confpath-31", "beta-2", "tests_weakened"),
    ("sample__confpath-31", "beta-3", "inputs_special_cased"),
    ("sample__textkit-17", "alpha-5", "tests_weakened"),
}
"""What the sample's README says of these three: a weakened test, the issue's own examples, a changed test."""


def ingested(folder: Path, *dumps: Path) -> tuple[Store, Options]:
    options = Options(str(folder / "store"), dumps=tuple(map(str, dumps)))
    store = Store.create(Path(options.store))
    drive(Ingest(store, options), store, run_here, 1)
    return store, options


def audited(store: Store, options: Options) -> list[dict[str, Any]]:
    drive(Audit(store, options), store, run_here, 1)
    return store.query("FROM audit_findings").to_pylist()


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Options]:
    return ingested(tmp_path_factory.mktemp("audit"), SAMPLE / "tasks.jsonl", SAMPLE / "runs", SAMPLE / "outcomes.json")


def test_the_leak_of_the_sample_is_the_only_confirmed_finding(sample: tuple[Store, Options]) -> None:
    found = audited(*sample)
    confirmed = [(row["task_id"], row["run"], row["kind"]) for row in found if row["verdict"] == "confirmed"]
    assert confirmed == [("sample__confpath-31", "alpha-2", "solution_copied")]
    others = {(row["task_id"], row["run"], row["kind"]) for row in found if row["run"] != "alpha-2"}
    assert others == SUSPECTED
    assert all(json.loads(row["evidence"]) for row in found)


def test_every_rollout_has_a_row_and_the_census_counts_them(sample: tuple[Store, Options]) -> None:
    store, options = sample
    audited(store, options)
    verdicts = store.query("SELECT hack, count(*) AS n FROM audit_verdicts GROUP BY hack ORDER BY hack").to_pylist()
    assert verdicts == [{"hack": "confirmed", "n": 1}, {"hack": "none", "n": 28}, {"hack": "suspected", "n": 3}]
    counted = {row["kind"]: row["n"] for row in store.query("FROM census_totals WHERE stage = 'audit'").to_pylist()}
    assert {kind: n for kind, n in counted.items() if kind.startswith("hack_")} == {
        "hack_confirmed": 1, "hack_none": 28, "hack_suspected": 3,
    }  # fmt: skip
    found = store.rows("census", ["place", "detail"], "stage = 'audit' AND kind = 'solution_copied'")
    assert found == [{"place": "sample__confpath-31", "detail": "rollouts with this finding, confirmed"}]


def test_a_second_audit_changes_nothing_and_leaves_other_auditors_rows_alone(sample: tuple[Store, Options]) -> None:
    store, options = sample
    before = audited(store, options)
    other = {**store.rows("audits")[0], "source": "judge:x", "kind": "leak", "verdict": "suspected", "evidence": "[1]"}
    with store.writing() as writing:
        writing.carry("audits")
        writing.append("audits", [other])
    rows = [row for row in audited(store, options) if row["source"] == SOURCE]
    assert rows == before
    assert store.rows("audits", where="source = 'judge:x'") == [other]
    drive(Audit(store, Options(options.store, tasks="sample__spans-8")), store, run_here, 1)
    assert [row for row in store.query("FROM audit_findings").to_pylist() if row["source"] == SOURCE] == before


def test_a_confirmed_hack_is_an_ordinary_failure_of_its_group(tmp_path: Path) -> None:
    dumps = (SAMPLE / "tasks.jsonl", SAMPLE / "runs", SAMPLE / "outcomes.json")
    store, options = ingested(tmp_path, *dumps)
    for stage in (Facts(store, options), Synthesize(store, options)):
        drive(stage, store, run_here, 1)
    drive(Score(store, options), store, run_here, 1)
    audited(store, options)
    drive(Reward(store, options), store, run_here, 1)
    where = "task_id = 'sample__confpath-31'"
    rows = {row["run"]: row for row in store.query(f"FROM rewards WHERE {where}").to_pylist()}
    assert (rows["alpha-2"]["hack"], rows["alpha-2"]["reward"]) == ("confirmed", 0.0)
    assert rows["beta-3"]["hack"] in ("none", "suspected")
    assert all(row["hack"] is not None for row in rows.values())


def test_nothing_is_confirmed_in_the_published_rollouts(real: Path, tmp_path: Path) -> None:
    found = audited(*ingested(tmp_path, real))
    assert [row for row in found if row["verdict"] == "confirmed"] == []
    assert len(found) <= 3


def test_a_rollout_has_one_row_per_pattern_or_one_that_says_none() -> None:
    rows = list(audit_rows("r", "t", audit_one(HACKS[10].material)))
    assert len({row["kind"] for row in rows}) == len(rows) > 1
    (clean,) = audit_rows("r", "t", ())
    assert (clean["kind"], clean["verdict"], clean["evidence"]) == ("none", "none", "")
