"""Ingest as a stage: what programs of ours found out survives it, and filters leave no trace of what they left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ingest_helpers import DIFF, native, prediction, write_lines

from rubrics.stages.ingest import Ingest
from rubrics.stages.options import Options
from rubrics.stages.stage import drive, run_here
from rubrics.store.store import Store

TASK = {"kind": "task", "task_id": "t-1", "spec": "fix"}


def ingest(store: Path, *dumps: Path, **options: Any) -> Store:
    made = Options(str(store), dumps=tuple(map(str, dumps)), **options)
    opened = Store.create(store)
    drive(Ingest(opened, made), opened, run_here, 1)
    return opened


def add_run(store: Store, rollout_id: str, source: str, outcome: str) -> None:
    """What a stage that runs tests or reads logs adds."""
    with store.writing() as run:
        run.carry("outcomes")
        row = {"rollout_id": rollout_id, "task_id": "t-1", "source": source, "outcome": outcome, "detail": None,
               "tests": '{"t":"passed"}', "log_digest": "d", "rung": "patch"}  # fmt: skip
        run.append("outcomes", [row])


def outcomes(store: Store) -> dict[str, str]:
    return {row["source"].partition(":")[0]: row["outcome"] for row in store.rows("outcomes")}


def census(store: Store, kind: str) -> list[dict[str, Any]]:
    return store.rows("census", where="kind = $kind", kind=kind)


def test_ingesting_again_keeps_the_runs_of_tests_and_the_logs_that_were_read(tmp_path: Path) -> None:
    """run, test, run again: every test run was dropped without a line; rewards fell back to what the dump recorded."""
    dump = write_lines(tmp_path / "d.jsonl", [TASK, native(rollout_id="x")])
    store = ingest(tmp_path / "store", dump)
    (rollout,) = store.rows("rollouts")
    add_run(store, rollout["rollout_id"], "run:1", "passed")
    add_run(store, rollout["rollout_id"], "harness:r/eval/t-1/test_output.txt", "passed")
    before = store.rows("outcomes")
    for _ in range(2):
        store = ingest(tmp_path / "store", dump)
        assert store.rows("outcomes") == before
    assert not census(store, "measured_without_rollout")
    (chosen,) = store.query("FROM chosen_outcomes").to_pylist()
    assert (chosen["outcome"], chosen["source"]) == ("passed", "run:1")


def test_outcomes_that_a_dump_records_are_replaced_and_differ_from_the_kept_runs_with_a_line(tmp_path: Path) -> None:
    dump = write_lines(tmp_path / "d.jsonl", [TASK, native(rollout_id="x")])
    store = ingest(tmp_path / "store", dump)
    add_run(store, store.rows("rollouts")[0]["rollout_id"], "run:1", "passed")
    failed = write_lines(
        tmp_path / "o.jsonl", [{"kind": "outcome", "task_id": "t-1", "rollout_id": "x", "resolved": False}]
    )
    store = ingest(tmp_path / "store", dump, failed)
    assert outcomes(store) == {"run": "passed", "file": "failed"}
    assert len(census(store, "disagreement")) == 1
    store = ingest(tmp_path / "store", dump)
    assert outcomes(store) == {"run": "passed"}
    assert not census(store, "disagreement")


def test_runs_whose_rollout_is_not_given_again_stay_with_it(tmp_path: Path) -> None:
    first = write_lines(tmp_path / "a.jsonl", [TASK, native(run="a")])
    second = write_lines(tmp_path / "b.jsonl", [TASK, native(run="b")])
    store = ingest(tmp_path / "store", first)
    add_run(store, store.rows("rollouts")[0]["rollout_id"], "run:1", "passed")
    store = ingest(tmp_path / "store", second)
    assert not census(store, "measured_without_rollout")
    chosen = store.query("SELECT outcome FROM chosen_outcomes ORDER BY outcome").to_pylist()
    assert [row["outcome"] for row in chosen] == ["passed", "unknown"]


def test_runs_whose_rollout_is_not_there_are_kept_and_counted_and_join_it_later(tmp_path: Path) -> None:
    first = write_lines(tmp_path / "a.jsonl", [TASK, native(run="a")])
    second = write_lines(tmp_path / "b.jsonl", [TASK, native(run="b")])
    (known,) = ingest(tmp_path / "other", first).rows("rollouts")
    store = Store.create(tmp_path / "store")
    add_run(store, known["rollout_id"], "run:1", "passed")
    store = ingest(tmp_path / "store", second)
    (line,) = census(store, "measured_without_rollout")
    assert line["count"] == 1
    assert [row["outcome"] for row in store.query("FROM chosen_outcomes").to_pylist()] == ["unknown"]
    store = ingest(tmp_path / "store", first)
    assert "passed" in [row["outcome"] for row in store.query("FROM chosen_outcomes").to_pylist()]
    assert not census(store, "measured_without_rollout")


def test_rollouts_that_a_filter_leaves_out_are_counted_as_that_alone(tmp_path: Path) -> None:
    """`no_task` counted rollouts of tasks that --tasks had left out."""
    rows = [
        TASK,
        native(),
        native("t-2"),
        native("t-3"),
        {"kind": "outcome", "task_id": "t-2", "run": "r", "resolved": True},
    ]
    store = ingest(tmp_path / "store", write_lines(tmp_path / "d.jsonl", rows), tasks="t-1")
    assert [row["task_id"] for row in store.rows("rollouts")] == ["t-1"]
    kinds = {row["kind"]: row["count"] for row in store.rows("census") if row["kind"] != "read_as"}
    assert kinds == {"filtered": 2}


def test_a_limit_takes_the_first_tasks_and_counts_the_others(tmp_path: Path) -> None:
    dump = write_lines(tmp_path / "d.jsonl", [native(f"t-{number}") for number in (3, 1, 2)])
    store = ingest(tmp_path / "store", dump, limit=2)
    assert sorted(row["task_id"] for row in store.rows("rollouts")) == ["t-1", "t-2"]
    assert sum(row["count"] for row in census(store, "filtered")) == 1
    assert sum(row["count"] for row in census(store, "no_task")) == 2


def test_what_a_row_records_of_itself_is_stored_when_it_is_trusted(tmp_path: Path) -> None:
    dump = write_lines(tmp_path / "d.jsonl", [prediction("t-1", resolved=True, cost=0.5)])
    assert not ingest(tmp_path / "a", dump).rows("outcomes")
    trusted = ingest(tmp_path / "b", dump, trust_recorded=True)
    assert [(row["source"], row["outcome"]) for row in trusted.rows("outcomes")] == [("recorded:predictions", "passed")]
    assert [row["outcome"] for row in trusted.query("FROM chosen_outcomes").to_pylist()] == ["passed"]
    assert [row["extra"] for row in trusted.rows("rollouts")] == ['{"cost":0.5}']


def test_one_rollout_has_one_line_per_kind_however_often_it_is_doubted(tmp_path: Path) -> None:
    rows = [native(rollout_id="x", exit_status="exit_cost"), native(rollout_id="y", patch=DIFF + "+\n")]
    rows += [
        {"kind": "outcome", "task_id": "t-1", "rollout_id": "x", "outcome": word}
        for word in ("passed", "failed", "infra")
    ]
    store = ingest(tmp_path / "store", write_lines(tmp_path / "d.jsonl", rows))
    assert len(census(store, "disagreement")) == len(census(store, "overruled")) == 1
