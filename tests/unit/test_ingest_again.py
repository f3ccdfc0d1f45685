"""Ingesting into a store that holds something: a grown dump, the same one, a second one, one that says otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ingest_helpers import DIFF, native, write_lines
from store_helpers import parts_of, tables

from rubrics.stages.facts import Facts
from rubrics.stages.ingest import Ingest
from rubrics.stages.options import Options
from rubrics.stages.stage import drive, run_here
from rubrics.store.store import Store

TASK = {"kind": "task", "task_id": "t-1", "spec": "fix", "hints": "look there"}
TURNS = [{"role": "assistant", "content": "done"}]


def attempts(*numbers: int, **more: Any) -> list[dict[str, Any]]:
    return [native(run="r", attempt=n, patch=DIFF + f"+{n}\n", **more) for n in numbers]


def dump(folder: Path, name: str, *rows: dict[str, Any]) -> Path:
    return write_lines(folder / f"{name}.jsonl", list(rows))


def ingest(root: Path, *dumps: Path) -> Store:
    options = Options(str(root), dumps=tuple(map(str, dumps)))
    store = Store.create(root)
    drive(Ingest(store, options), store, run_here, 1)
    return store


def measure(store: Store) -> int:
    return drive(Facts(store, Options(str(store.paths.root))), store, run_here, 1)


def census(store: Store, kind: str) -> list[tuple[str, int]]:
    return [(row["place"], row["count"]) for row in store.rows("census", where="kind = $kind", kind=kind)]


def without_source(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows but for the file that they were read from first."""
    return [{**row, "source": ""} for row in rows]


def by_attempt(store: Store, column: str) -> dict[int, Any]:
    return {row["attempt"]: row[column] for row in store.rows("rollouts")}


@pytest.fixture
def first(tmp_path: Path) -> Store:
    store = ingest(tmp_path / "store", dump(tmp_path, "first", TASK, *attempts(1, 2), native("t-2")))
    measure(store)
    return store


def test_the_same_dump_again_changes_nothing(first: Store, tmp_path: Path) -> None:
    before = first.paths.manifest.read_bytes()
    ingest(first.paths.root, tmp_path / "first.jsonl")
    assert first.paths.manifest.read_bytes() == before
    assert measure(first) == 0


def test_a_dump_that_was_moved_changes_nothing(first: Store, tmp_path: Path) -> None:
    """Every row counted as replaced, because it was read from a file of another name."""
    before = first.manifest().tables["rollouts"], first.manifest().tables["tasks"]
    ingest(first.paths.root, (tmp_path / "first.jsonl").rename(tmp_path / "moved.jsonl"))
    assert (first.manifest().tables["rollouts"], first.manifest().tables["tasks"]) == before
    assert not census(first, "replaced")
    assert measure(first) == 0


def test_a_grown_dump_adds_its_new_rollouts_and_leaves_the_parts_of_the_others(first: Store, tmp_path: Path) -> None:
    before, ids = parts_of(first, "rollouts"), by_attempt(first, "rollout_id")
    grown = dump(tmp_path, "grown", TASK, *attempts(1, 2), native("t-2"), *attempts(3))
    ingest(first.paths.root, grown)
    assert parts_of(first, "rollouts")[: len(before)] == before
    assert by_attempt(first, "rollout_id").items() >= ids.items()
    assert first.count("rollouts") == 4
    assert not census(first, "kept") + census(first, "replaced")
    assert measure(first) == 1, "only what is new is measured"
    whole = ingest(tmp_path / "at once", grown)
    measure(whole)
    ours, theirs = tables(first), tables(whole)
    for name in ("tasks", "rollouts", "sealed", "transcripts", "outcomes", "facts"):
        assert without_source(ours[name]) == without_source(theirs[name]), name


def test_rollouts_of_an_earlier_dump_stay_and_are_counted(first: Store, tmp_path: Path) -> None:
    before = tables(first)
    ingest(first.paths.root, dump(tmp_path, "second", {**TASK, "task_id": "t-9"}, native("t-9", run="other")))
    assert first.count("rollouts") == 4
    assert census(first, "kept") == [("", 3)]
    assert not census(first, "replaced")
    for name in ("tasks", "rollouts", "outcomes", "facts"):
        assert [row for row in first.rows(name) if row["task_id"] != "t-9"] == before[name]
    assert measure(first) == 1


def test_what_a_dump_says_otherwise_replaces_what_was_there_and_is_counted(first: Store, tmp_path: Path) -> None:
    ids = by_attempt(first, "rollout_id")
    changed = dump(tmp_path, "changed", {**TASK, "spec": "fix it well"}, *attempts(1, exit_status="exit_cost"))
    ingest(first.paths.root, changed)
    assert [row["spec"] for row in first.rows("tasks", where="task_id = 't-1'")] == ["fix it well"]
    assert by_attempt(first, "rollout_id") == ids
    assert first.rows("rollouts", ["exit_status"], "attempt = 1 AND task_id = 't-1'") == [{"exit_status": "exit_cost"}]
    assert dict(census(first, "replaced")) == {"tasks": 1, "rollouts": 1}
    assert census(first, "kept") == [("", 2)]
    assert measure(first) == 1, "how an attempt ended is a fact"
    ingest(first.paths.root, changed)
    assert not census(first, "replaced")


def test_outcomes_of_a_rollout_that_is_given_again_are_those_of_the_new_dump(tmp_path: Path) -> None:
    def said(*resolved: int) -> list[dict[str, Any]]:
        return [{"kind": "outcome", "task_id": "t-1", "run": "r", "attempt": n, "resolved": True} for n in resolved]

    store = ingest(tmp_path / "store", dump(tmp_path, "a", TASK, *attempts(1, 2, 3), *said(1, 2, 3)))
    assert store.count("outcomes") == 3
    ingest(store.paths.root, dump(tmp_path, "a", TASK, *attempts(1, 2), *said(2)))
    attempt = {row["rollout_id"]: row["attempt"] for row in store.rows("rollouts")}
    assert sorted(attempt[row["rollout_id"]] for row in store.rows("outcomes")) == [2, 3]
    assert census(store, "replaced") == [("outcomes", 2)], "a source is named after the bytes of its file"


def test_a_dump_without_the_tasks_own_record_leaves_what_is_known_of_the_task(tmp_path: Path) -> None:
    store = ingest(tmp_path / "store", dump(tmp_path, "a", TASK, *attempts(1)))
    ingest(store.paths.root, dump(tmp_path, "b", *attempts(2)))
    assert [row["spec"] for row in store.rows("tasks")] == ["fix"]
    assert [row["hints"] for row in store.rows("sealed")] == ["look there"]
    assert store.count("rollouts") == 2


def test_a_rollout_that_repeats_one_of_an_earlier_dump_is_known_as_its_duplicate(tmp_path: Path) -> None:
    one, two = (dump(tmp_path, name, TASK, native(run=name, transcript=TURNS)) for name in "ab")
    store = ingest(tmp_path / "store", one)
    ingest(store.paths.root, two)
    rows = {row["run"]: row for row in store.rows("rollouts")}
    assert rows["b"]["duplicate_of"] == rows["a"]["rollout_id"]
    assert rows["a"]["duplicate_of"] is None
    assert store.count("transcripts") == 1
    before = store.manifest().tables["rollouts"]
    for again in (one, two):
        ingest(store.paths.root, again)
        assert store.manifest().tables["rollouts"] == before


def test_several_dumps_one_after_the_other_are_the_same_as_at_once(tmp_path: Path) -> None:
    dumps = [dump(tmp_path, name, TASK, *attempts(*numbers)) for name, numbers in (("a", (1, 2)), ("b", (2, 3)))]
    at_once, apart = ingest(tmp_path / "once", *dumps), tmp_path / "apart"
    for item in dumps:
        ingest(apart, item)
    assert by_attempt(Store.open(apart), "rollout_id") == by_attempt(at_once, "rollout_id")
    assert without_source(Store.open(apart).rows("tasks")) == without_source(at_once.rows("tasks"))


def test_a_past_ingest_can_be_brought_back(first: Store, tmp_path: Path) -> None:
    from rubrics.stages.restoring import restore_commit

    before, commit = tables(first), first.manifest().commit
    ingest(first.paths.root, dump(tmp_path, "more", *attempts(7, 8)))
    restore_commit(first.paths.root, commit)
    assert tables(first) == before


def test_facts_measured_by_another_version_of_the_program_are_measured_again(
    first: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Facts of another version that were carried into a new part passed for this version's."""
    monkeypatch.setattr("rubrics.store.store.__version__", "9.9")
    monkeypatch.setattr("rubrics.store.part_files.__version__", "9.9")
    ingest(first.paths.root, dump(tmp_path, "changed", TASK, *attempts(1, exit_status="exit_cost")))
    assert measure(first) == 3
    assert measure(first) == 0
    assert first.count("facts") == 3
