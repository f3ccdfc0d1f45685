"""Commands one after another on one store: what was there stays, what is replaced is said and can be brought back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import Command, rows
from environments.environment_helpers import started_or_skipped
from judging.judged_store import with_judge_criteria
from model_server.server import serving
from model_server.sound import sound_verdicts

from rubrics.store.store import Store

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample"
ALL = (SAMPLE / "tasks.jsonl", SAMPLE / "runs", SAMPLE / "outcomes.json")
WITHOUT_OUTCOME = ("alpha-5", "beta-3")


class Kept:
    """A store, and the command on it."""

    def __init__(self, command: Command, root: Path) -> None:
        self._command, self.root = command, root

    def __call__(self, name: str, *words: object, code: int = 0) -> str:
        ran = self._command(name, *words, "--store", self.root, cwd=self.root.parent, code=code)
        return ran.out + ran.err

    @property
    def commit(self) -> int:
        return Store.open(self.root).manifest().commit

    def state(self) -> dict[str, Any]:
        """Parts of every table (named after their bytes), and rubric files."""
        return {**self.parts(), **self.rubrics()}

    def parts(self) -> dict[str, set[str]]:
        parts = {name: set(item.parts) for name, item in Store.open(self.root).manifest().tables.items()}
        return {name: found for name, found in parts.items() if found}

    def rubrics(self) -> dict[str, bytes]:
        return {item.name: item.read_bytes() for item in self.root.glob("rubrics/*.yaml")}

    def table(self, name: str) -> list[str]:
        return [json.dumps(row, sort_keys=True, default=str) for row in rows(self.root, f"FROM {name}")]

    def census(self, stage: str) -> dict[str, int]:
        said = rows(self.root, f"SELECT kind, sum(count)::int AS n FROM census WHERE stage = '{stage}' GROUP BY kind")
        return {row["kind"]: row["n"] for row in said}

    def assert_comes_back(self, commit: int, state: dict[str, Any]) -> None:
        """`rubrics history` names the commit, `rubrics restore` brings it back, and the restore can be taken back."""
        now, latest = self.state(), self.commit
        known = json.loads(self("history", "--json"))
        assert {commit, latest} <= {item["commit"] for item in known}
        self("restore", commit)
        assert self.state() == state
        self("restore", latest)
        assert self.state() == now


@pytest.fixture
def store(alone: Command, tmp_path: Path) -> Kept:
    return Kept(alone, tmp_path / "store")


def runs(folder: Path, *names: str) -> tuple[Path, ...]:
    """A dump of some of the sample's runs, in a folder of its own."""
    for name in names:
        shutil.copytree(SAMPLE / "runs" / name, folder / name)
    return SAMPLE / "tasks.jsonl", folder


def test_a_run_again_changes_nothing_and_makes_no_commit(store: Kept) -> None:
    store("run", *ALL, code=1)
    before = {item: item.read_bytes() for item in (store.root / "manifest.json", store.root / "views.sql")}
    parts = store.state()
    store("run", *ALL, code=1)
    assert {item: item.read_bytes() for item in before} == before
    assert store.state() == parts


def test_a_run_after_a_test_keeps_what_the_tests_said_and_what_they_found_counts(store: Kept) -> None:
    started_or_skipped("bubblewrap").close()
    dump = runs(store.root.parent / "dump", *WITHOUT_OUTCOME)
    store("ingest", *dump)
    commit, state = store.commit, store.state()
    store("test", "--data", SAMPLE, "--env", "bubblewrap", "--tasks", "sample__spans-8")
    said = store.table("outcomes")
    assert len(rows(store.root, "FROM outcomes WHERE source = 'run:1'")) == len(WITHOUT_OUTCOME)
    store("run", *dump, code=1)
    assert store.table("outcomes") == said
    counted = "SELECT test FROM rewards JOIN outcomes USING (rollout_id) WHERE source = 'run:1'"
    assert [row["test"] is None for row in rows(store.root, counted)] == [False] * len(WITHOUT_OUTCOME)
    store.assert_comes_back(commit, state)


def test_a_dump_that_has_grown_adds_its_rows_and_says_what_it_says_otherwise(store: Kept) -> None:
    folder = store.root.parent / "dump"
    dump = runs(folder, "alpha-1", "alpha-2", "beta-1")
    store("run", *dump, code=1)
    commit, state = store.commit, store.state()
    tables = {name: store.table(name) for name in ("rollouts", "transcripts", "facts", "outcomes")}
    report = folder / "alpha-1" / "eval" / "sample__spans-8" / "report.json"
    text = report.read_text()
    assert '"resolved": true' in text
    report.write_text(text.replace('"resolved": true', '"resolved": false'))
    runs(folder, "beta-2")
    said = store("run", *dump, code=1)
    for name in ("rollouts", "transcripts", "facts"):
        assert set(tables[name]) < set(store.table(name)), name
    assert len(set(tables["outcomes"]) - set(store.table("outcomes"))) == 1
    assert "replaced" in said
    assert store.census("ingest")["replaced"] == 1
    store.assert_comes_back(commit, state)


def test_a_second_dump_is_scored_by_the_rubrics_of_the_first_and_all_of_the_first_stays(store: Kept) -> None:
    first = runs(store.root.parent / "monday", "alpha-1", "alpha-2", "alpha-3", "alpha-4", "beta-1", "beta-2")
    store("run", *first, code=1)
    commit, state, rubrics = store.commit, store.state(), store.rubrics()
    tables = {name: store.table(name) for name in ("rollouts", "outcomes", "facts", "contrasts", "grades", "studies")}
    store("run", *runs(store.root.parent / "tuesday", *WITHOUT_OUTCOME), SAMPLE / "outcomes.json", code=1)
    assert store.rubrics() == rubrics
    for name, before in tables.items():
        assert set(before) <= set(store.table(name)), name
    assert store.census("ingest")["kept"] == len(tables["rollouts"])
    graded = rows(store.root, "SELECT count(DISTINCT rollout_id)::int AS n FROM grades")
    assert graded == [{"n": 32}]
    store.assert_comes_back(commit, state)


def test_a_judge_tried_on_one_task_leaves_the_grades_of_all_others_and_of_the_judge_before(
    store: Kept, sample_store: Store
) -> None:
    with_judge_criteria(sample_store, store.root)
    store("score")
    store("reward", code=1)
    edited = store.rubrics()
    store("restore", store.commit)  # files that were edited by hand are no commit's: they are kept beside
    aside = {item.read_bytes() for item in store.root.glob("rubrics/*.old")}
    assert aside == set(edited.values()) - set(store.rubrics().values()) != set()
    for name, content in edited.items():
        (store.root / "rubrics" / name).write_bytes(content)
    commit, state, grades = store.commit, store.parts(), set(store.table("grades"))
    with serving(sound_verdicts) as server:
        asked = ("--model", "m", "--base-url", server.url, "--tasks", "sample__spans-8")
        store("score", *asked)
        assert grades < set(store.table("grades"))
        judged = rows(store.root, "SELECT DISTINCT task_id FROM grades WHERE judge LIKE 'single:%'")
        assert judged == [{"task_id": "sample__spans-8"}]
        requests = len(server.requests)
        store("score", *asked)
        assert len(server.requests) == requests, "it is up to date"
    store("reward", "--judge", "builtin", code=1)
    store("restore", commit)
    assert store.parts() == state
