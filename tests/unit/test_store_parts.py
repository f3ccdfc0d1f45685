"""Parts of tables: named after their bytes, carried while nothing in them goes, put together when they are many."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest
from store_helpers import parts_of, tables, write

from rubrics.store import commit as commit_module
from rubrics.store import parts as parts_module
from rubrics.store.commit import FEW
from rubrics.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "store")


def rows(*tasks: str, each: int = 3) -> list[dict[str, Any]]:
    return [{"rollout_id": f"{task}-{n}", "task_id": task, "study_digest": "s"} for task in tasks for n in range(each)]


def add(store: Store, *tasks: str) -> None:
    with store.writing("adding") as run:
        run.carry("contrasts")
        run.append("contrasts", rows(*tasks))


def drop(store: Store, *tasks: str) -> None:
    with store.writing("dropping") as run:
        run.carry("contrasts", "task_id IN (SELECT unnest($tasks))", tasks=list(tasks))


def tasks_of(part: Path) -> set[str]:
    return set(pq.read_table(part).column("task_id").to_pylist())


def held(store: Store) -> set[str]:
    return {row["task_id"] for row in store.rows("contrasts")}


def test_the_same_rows_make_the_same_files_whoever_writes_them(tmp_path: Path) -> None:
    names = []
    for number in range(3):
        store = Store.create(tmp_path / str(number))
        shuffled = rows("a", "b", "c")
        Random(number).shuffle(shuffled)
        with store.writing(f"stage {number}") as run:
            for row in shuffled:
                run.append("contrasts", [row])
        names.append([part.name for part in parts_of(store, "contrasts")])
    assert names[0] == names[1] == names[2]


def test_a_stage_that_finds_the_same_again_makes_no_commit(store: Store) -> None:
    add(store, "a", "b")
    add(store, "c")
    before, manifest = store.manifest(), store.paths.manifest.stat().st_mtime_ns
    with store.writing("again") as run:
        run.carry("contrasts", "task_id IN ('a', 'b')")
        run.append("contrasts", rows("b", "a"))
    assert store.manifest() == before, "the order of parts means nothing"
    assert store.paths.manifest.stat().st_mtime_ns == manifest


def test_carrying_without_some_tasks_leaves_parts_that_hold_none_of_them_as_the_same_files(store: Store) -> None:
    for tasks in (("a", "b"), ("c",), ("d", "e"), ("f",)):
        add(store, *tasks)
    before = {part: part.stat() for part in parts_of(store, "contrasts")}
    drop(store, "b", "f", "nobody")
    after = parts_of(store, "contrasts")
    stayed = [part for part in after if part in before]
    assert [tasks_of(part) for part in stayed] == [{"c"}, {"d", "e"}]
    assert [part.stat() for part in stayed] == [before[part] for part in stayed]
    assert [tasks_of(part) for part in after if part not in before] == [{"a"}]
    assert held(store) == {"a", "c", "d", "e"}


def test_carrying_without_tasks_that_are_not_there_changes_nothing(store: Store) -> None:
    add(store, "a")
    before = store.manifest()
    drop(store, "nobody")
    drop(store)
    assert store.manifest() == before


def test_rows_of_which_nothing_can_be_said_stay(store: Store) -> None:
    write(store, outcomes=[{"rollout_id": "r", "source": "s", "task_id": None}, {"rollout_id": "q", "source": "s"}])
    with store.writing() as run:
        run.carry("outcomes", "task_id = 'a'")
        run.append("outcomes", [{"rollout_id": "r", "source": "t", "task_id": "a"}])
    assert store.count("outcomes") == 3
    with store.writing() as run:
        run.carry("outcomes", "task_id = 'a'")
    assert store.count("outcomes") == 2


def test_dropping_every_row_empties_the_table(store: Store) -> None:
    add(store, "a")
    add(store, "b")
    drop(store, "a", "b")
    assert (store.count("contrasts"), parts_of(store, "contrasts")) == (0, [])
    assert store.rows("contrasts") == []
    drop(store, "a")


def test_a_table_that_was_never_written_can_be_carried(store: Store) -> None:
    drop(store, "a")
    add(store, "a")
    assert held(store) == {"a"}


def test_some_parts_are_taken_over_by_name(store: Store) -> None:
    for task in "abc":
        add(store, task)
    wanted = [store.manifest().current("contrasts").parts[n] for n in (0, 2)]  # type: ignore[union-attr]
    with store.writing() as run:
        run.carry_parts("contrasts", wanted)
    assert held(store) == {"a", "c"}


def test_many_small_parts_are_put_together(store: Store) -> None:
    most = 0
    for number in range(2 * FEW + 10):
        add(store, f"t{number}")
        most = max(most, len(parts_of(store, "contrasts")))
    assert most <= FEW + 2
    assert len(parts_of(store, "contrasts")) < FEW
    assert held(store) == {f"t{number}" for number in range(2 * FEW + 10)}
    assert store.count("contrasts") == len(store.rows("contrasts")) == 3 * (2 * FEW + 10)


def test_large_parts_are_left_as_they_are(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    write(store, contrasts=rows(*"abcdefgh", each=200))
    (large,) = parts_of(store, "contrasts")
    monkeypatch.setattr(commit_module, "SMALL", large.stat().st_size)
    for number in range(FEW + 5):
        add(store, f"t{number}")
    assert large in parts_of(store, "contrasts")
    assert len(parts_of(store, "contrasts")) < FEW


def test_the_parts_of_one_run_are_put_together_up_to_a_size(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_module, "PART_ROWS", 5)
    write(store, contrasts=rows(*"abcdefgh"))
    assert len(parts_of(store, "contrasts")) == 5, "put together, and cut where a part has rows enough"
    monkeypatch.setattr(parts_module, "PART_ROWS", 100_000)
    before = tables(store)
    with store.writing() as run:
        run.append_table("contrasts", pq.read_table(parts_of(store, "contrasts")))
    assert len(parts_of(store, "contrasts")) == 1
    assert tables(store) == before
