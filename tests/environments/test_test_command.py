"""`rubrics test`, `rubrics check-tasks` and `--from-logs` on whole stores, in this process and as commands."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from environment_helpers import started_or_skipped

from rubrics.stages.check_tasks import CheckTasks
from rubrics.stages.ingest import Ingest
from rubrics.stages.options import Options
from rubrics.stages.stage import drive, run_here
from rubrics.stages.stored_logs import StoredLogs
from rubrics.stages.test import Test
from rubrics.store.store import Store

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "data" / "sample"
COMMAND = Path(sys.executable).with_name("rubrics")


def ingested(root: Path, dumps: tuple[Path, ...], **more: Any) -> tuple[Store, Options]:
    options = Options(str(root), dumps=tuple(map(str, dumps)), data=(str(SAMPLE),), env="bubblewrap", **more)
    store = Store.create(root)
    drive(Ingest(store, options), store, run_here, 1)
    return store, options


def sample_store(root: Path, **more: Any) -> tuple[Store, Options]:
    dumps = (SAMPLE / "tasks.jsonl", SAMPLE / "runs", SAMPLE / "outcomes.json")
    return ingested(root, dumps, **more)


def recorded_and_run(store: Store) -> dict[str, set[str]]:
    """Outcomes of each rollout by all sources that ran tests, but for those that an exit made infra."""
    found: dict[str, set[str]] = {}
    for row in store.rows("outcomes", where="source <> 'exit'"):
        found.setdefault(row["rollout_id"], set()).add(row["outcome"])
    return found


@pytest.fixture
def sandbox() -> None:
    started_or_skipped("bubblewrap").close()


def test_the_samples_tests_run_for_real_and_agree_with_what_was_recorded(sandbox: None, tmp_path: Path) -> None:
    store, options = sample_store(tmp_path / "s")
    before = store.count("outcomes")
    assert drive(Test(store, options), store, run_here, 1) == 32
    assert store.count("outcomes") == before + 32
    assert all(len(outcomes) == 1 for outcomes in recorded_and_run(store).values())
    rows = store.rows("outcomes", where="source = 'run:1'")
    assert {row["rung"] for row in rows} == {"repository+patch"}
    assert all(json.loads(row["tests"]) and row["log_digest"] for row in rows)


def test_repeats_are_numbered_on_and_equal_states_are_run_once(sandbox: None, tmp_path: Path) -> None:
    store, options = sample_store(tmp_path / "s", tasks="sample__spans-8", repeat=2)
    drive(Test(store, options), store, run_here, 1)
    drive(Test(store, replace(options, repeat=1)), store, run_here, 1)
    sources = {row["source"] for row in store.rows("outcomes", where="source LIKE 'run:%'")}
    assert sources == {"run:1", "run:2", "run:3"}
    equal = store.query(
        "SELECT count(DISTINCT log_digest) AS logs FROM outcomes JOIN rollouts USING (rollout_id) "
        "WHERE outcomes.source = 'run:1' AND run IN ('alpha-1', 'beta-3')"
    ).to_pylist()
    assert equal == [{"logs": 1}]


def test_before_a_score_only_those_are_run_that_no_run_has_tested_and_what_was_said_of_others_stays(
    tmp_path: Path,
) -> None:
    """`run --with-tests`, killed after its tests and typed again, ran all of them again, as a second run."""
    store, options = sample_store(tmp_path / "s", tasks="sample__s*")
    rows = store.rows("rollouts", ["rollout_id", "task_id"], "task_id = 'sample__spans-8'")
    said = {row["rollout_id"]: "infra" if number == 0 else "passed" for number, row in enumerate(rows)}
    lines = [{"stage": "test", "subject": "task", "kind": "no_canaries", "place": place, "detail": "", "count": 1}
             for place in ("sample__spans-8", "sample__textkit-17", "")]  # fmt: skip
    with store.writing() as run:
        run.carry("outcomes")
        run.append("outcomes", [{**row, "source": "run:1", "outcome": said[row["rollout_id"]]} for row in rows])
        run.append("census", lines)

    def planned(with_tests: bool) -> set[str]:
        with closing(Test(store, replace(options, with_tests=with_tests))) as stage:
            return {rollout_id for chunk in stage.chunks() for group in chunk.items[1:] for rollout_id in group}

    assert planned(True) == {rollout_id for rollout_id, outcome in said.items() if outcome == "infra"}
    assert planned(False) == said.keys()
    with closing(Test(store, replace(options, with_tests=True))) as stage:
        stays, parameters = stage.lasting_census()
    found = store.rows("census", ["place"], f"stage = 'test' AND ({stays})", **parameters)
    assert [row["place"] for row in found] == ["sample__textkit-17"]


def test_a_missing_engine_gives_infra_to_every_rollout_and_never_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, options = sample_store(tmp_path / "s", tasks="sample__spans-8")
    monkeypatch.setenv("PATH", str(tmp_path))
    drive(Test(store, options), store, run_here, 1)
    rows = store.rows("outcomes", where="source = 'run:1'")
    assert {(row["outcome"], row["detail"].split(":")[0], row["tests"]) for row in rows} == {
        ("infra", "no_engine", None)
    }
    assert store.query("SELECT count(*) AS n FROM chosen_outcomes WHERE outcome = 'failed'").to_pylist() == [{"n": 3}]


def test_the_gates_of_the_samples_tasks_pass_and_a_broken_task_is_told(sandbox: None, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (SAMPLE / "tasks.jsonl").read_text("utf-8").splitlines()][:2]
    rows[1]["patch"] = ""
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    store, options = ingested(tmp_path / "s", (tmp_path / "tasks.jsonl",))
    stage = CheckTasks(store, options, reruns=4)
    drive(stage, store, run_here, 1)
    assert [gates.passed for gates in stage.found] == [row["patch"] != "" for row in sorted(rows, key=_id)]
    kinds = store.query("SELECT kind, place FROM census WHERE stage = 'check-tasks'").to_pylist()
    assert kinds == [{"kind": "gate_failed", "place": rows[1]["instance_id"]}]


def _id(row: dict[str, Any]) -> str:
    return str(row["instance_id"])


def test_stored_logs_become_outcomes_of_their_rollouts_without_running_anything(tmp_path: Path) -> None:
    store, options = sample_store(tmp_path / "s", from_logs=(str(SAMPLE / "runs"),))
    done = drive(StoredLogs(store, options), store, run_here, 1)
    rows = store.rows("outcomes", where="detail LIKE 'log: %'")
    assert done == len(rows) > 15
    assert all(len(outcomes) == 1 for outcomes in recorded_and_run(store).values())
    assert drive(StoredLogs(store, options), store, run_here, 1) == done
    assert len(store.rows("outcomes", where="detail LIKE 'log: %'")) == done


def test_the_commands_run_the_flow_and_say_which_backend_it_was(sandbox: None, tmp_path: Path) -> None:
    store, _ = sample_store(tmp_path / "s", tasks="sample__spans-8")
    options = ["--store", str(store.paths.root), "--data", str(SAMPLE), "--env", "bubblewrap"]
    done = subprocess.run([COMMAND, "test", *options], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "environment: bubblewrap" in done.stderr
    assert store.query("SELECT count(*) AS n FROM outcomes WHERE source = 'run:1'").to_pylist() == [{"n": 8}]
    refused = subprocess.run(
        [COMMAND, "test", "--store", str(store.paths.root), "--env", "bare"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert refused.returncode == 2
    assert "--trusted" in refused.stderr
