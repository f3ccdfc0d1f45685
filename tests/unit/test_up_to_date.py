"""What was scored or audited as it is now is not done again; what something new came to is."""

from __future__ import annotations

from pathlib import Path

import pytest
from ingest_helpers import DIFF, native, write_lines
from store_helpers import flip, parts_of, tables

from rubrics.stages.audit import Audit
from rubrics.stages.facts import Facts
from rubrics.stages.ingest import Ingest
from rubrics.stages.options import Options
from rubrics.stages.score import Score
from rubrics.stages.stage import Stage, drive, run_here
from rubrics.stages.synthesize import Synthesize
from rubrics.store.repair import repair
from rubrics.store.store import Store

TASKS = ("t-1", "t-2", "t-3")


def attempts(run: str, *tasks: str) -> list[dict[str, object]]:
    rollouts = [native(task_id, run=run, attempt=n, patch=f"{DIFF}+{run}{n}\n") for task_id in tasks for n in range(4)]
    said = ("passed", "failed")
    return [*rollouts, *({**row, "kind": "outcome", "outcome": said[n % 2]} for n, row in enumerate(rollouts))]


def ingest(root: Path, name: str, *tasks: str) -> Store:
    dump = write_lines(root.parent / f"{name}.jsonl", attempts(name, *tasks))
    options = Options(str(root), dumps=(str(dump),))
    store = Store.create(root)
    for stage in (Ingest(store, options), Facts(store, options)):
        drive(stage, store, run_here, 1)
    return store


def again(store: Store, kind: type[Score] | type[Audit], tasks: str = "*") -> int:
    options = Options(str(store.paths.root), tasks=tasks, chunk=4)
    stage: Stage = kind(store, options)
    return drive(stage, store, run_here, 1)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = ingest(tmp_path / "store", "first", *TASKS)
    drive(Synthesize(made, Options(str(made.paths.root))), made, run_here, 1)
    assert [again(made, kind) for kind in (Score, Audit)] == [12, 12]
    return made


@pytest.mark.parametrize("kind", [Score, Audit])
def test_what_is_up_to_date_is_not_done_again(store: Store, kind: type[Score] | type[Audit]) -> None:
    before = tables(store)
    assert again(store, kind) == 0
    assert tables(store) == before


@pytest.mark.parametrize("kind", [Score, Audit])
def test_a_task_with_new_attempts_is_done_again_and_no_other(store: Store, kind: type[Score] | type[Audit]) -> None:
    """An audit looked at every rollout of the store whenever one was added."""
    ingest(store.paths.root, "second", "t-2")
    assert again(store, kind) == 8
    assert again(store, kind) == 0


def test_the_census_of_an_audit_counts_what_was_audited_before_too(store: Store) -> None:
    ingest(store.paths.root, "second", "t-2")
    again(store, Audit)
    counted = store.query("FROM census_totals WHERE stage = 'audit' AND kind LIKE 'hack_%'").to_pylist()
    assert sum(row["n"] for row in counted) == 16
    assert len({row["rollout_id"] for row in store.rows("audits")}) == 16


def test_tasks_that_are_left_out_this_time_stay_up_to_date(store: Store) -> None:
    ingest(store.paths.root, "second", "t-1", "t-2")
    assert again(store, Audit, tasks="t-1") == 8
    assert again(store, Audit) == 8


@pytest.mark.parametrize(("table", "kind"), [("grades", Score), ("audits", Audit)])
def test_what_was_lost_is_done_again(store: Store, table: str, kind: type[Score] | type[Audit]) -> None:
    """`repair` emptied a damaged table, and the stage that it named then found everything up to date."""
    for part in parts_of(store, table):
        flip(part, part.stat().st_size // 2)
    repair(store.paths.root)
    assert store.count(table) == 0
    assert again(Store.open(store.paths.root), kind) == 12
    assert store.count(table) > 0
