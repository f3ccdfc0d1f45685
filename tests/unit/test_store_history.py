"""The history: what each commit changed, and a past one brought back with its rubric files, byte for byte."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from click.testing import CliRunner
from store_helpers import contents, flip, parts_of, tables, write

from rubrics.cli.main import cli
from rubrics.errors import StoreError, UsageError
from rubrics.stages.restoring import restore_commit
from rubrics.store import commit as commit_module
from rubrics.store.history import changes, commit_of, commits
from rubrics.store.pending import Pending
from rubrics.store.store import Store


class Killed(BaseException):
    pass


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "store")


def commit(store: Store, tasks: str, **rubrics: str) -> None:
    """One task a letter, and rubric files with these texts."""
    with store.writing("synthesize") as run:
        run.append("tasks", [{"task_id": name} for name in tasks])
        for name, text in rubrics.items():
            run.files.write(file_of(store, name), text)


def file_of(store: Store, name: str) -> Path:
    return store.paths.rubrics / f"{name}.solution.yaml"


def names(store: Store) -> str:
    return "".join(row["task_id"] for row in store.rows("tasks", ["task_id"]))


def rubric_files(store: Store) -> dict[str, bytes]:
    return {item.name: item.read_bytes() for item in store.paths.rubrics.glob("*")}


def test_the_history_says_what_each_commit_changed(store: Store) -> None:
    commit(store, "ab")
    write(store, "facts", facts=[{"rollout_id": "r", "task_id": "a"}])
    commit(store, "abc")
    with store.writing("nothing") as run:
        run.carry("tasks")
    commit(store, "abd")
    found = changes(store.paths.root)
    assert [(row["commit"], row["stage"], row["changed"]) for row in found] == [
        (0, "", "first that is known"), (1, "synthesize", "tasks 0 -> 2"), (2, "facts", "facts 0 -> 1"),
        (3, "synthesize", "tasks 2 -> 3"), (4, "synthesize", "tasks 3"),
    ]  # fmt: skip
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", row["time"]) for row in found[1:])


def test_a_commit_that_was_never_made_is_not_in_the_history(store: Store) -> None:
    commit(store, "a")
    with patch("rubrics.store.manifest.write_atomic", side_effect=[None, Killed]), pytest.raises(Killed):
        commit(store, "b")
    assert [item.commit for item in commits(store.paths.root)] == [0, 1]
    commit(store, "c")
    assert [row["changed"] for row in changes(store.paths.root)][1:] == ["tasks 0 -> 1", "tasks 1"]
    assert names(store) == "c"


def test_restore_brings_tables_and_rubric_files_back_byte_for_byte(store: Store) -> None:
    states: list[tuple[Any, dict[str, bytes], Any]] = []
    for tasks, rubrics in (("a", {"x": "one\r\n"}), ("ab", {"x": "two", "y": "é"}), ("", {}), ("c", {"y": "end"})):
        commit(store, tasks, **rubrics)
        states.append((tables(store), rubric_files(store), store.manifest().tables))
    for number in (2, 1, 4, 3):
        made, said = restore_commit(store.paths.root, number)
        rows, files, parts = states[number - 1]
        assert (tables(store), rubric_files(store), store.manifest().tables) == (rows, files, parts)
        assert (store.manifest().commit, store.manifest().stage) == (made, f"restore {number}")
        assert said
        assert not store.paths.pending.exists()
    assert store.paths.views.read_text().count(".parquet") == len(store.manifest().parts())
    restore_commit(store.paths.root, 0)
    assert (names(store), rubric_files(store)) == ("", {})
    restore_commit(store.paths.root, 8)
    assert tables(store) == states[2][0], "a restore can be taken back like everything else"


def test_restore_keeps_a_file_that_was_edited_by_hand_beside(store: Store) -> None:
    commit(store, "a", x="one")
    commit(store, "b", x="two", y="why")
    file_of(store, "x").write_text("mine")
    _, said = restore_commit(store.paths.root, 1)
    assert file_of(store, "x").read_text() == "one"
    assert not file_of(store, "y").exists()
    (aside,) = store.paths.rubrics.glob("*.yaml.old")
    assert aside.read_text() == "mine"
    assert {"changed": f"a file edited by hand was kept as {aside.name}"} in said


def test_restore_keeps_a_file_that_was_made_by_hand_where_then_was_another(store: Store) -> None:
    commit(store, "a", x="one")
    restore_commit(store.paths.root, 0)
    file_of(store, "x").write_text("mine")
    restore_commit(store.paths.root, 1)
    assert file_of(store, "x").read_text() == "one"
    assert [item.read_text() for item in store.paths.rubrics.glob("*.yaml.old")] == ["mine"]


def test_a_file_made_by_hand_that_no_commit_speaks_of_is_left_alone(store: Store) -> None:
    commit(store, "a", x="one")
    file_of(store, "own").write_text("mine")
    restore_commit(store.paths.root, 0)
    assert rubric_files(store) == {"own.solution.yaml": b"mine"}


@pytest.mark.parametrize("harm", ["part gone", "part damaged", "text gone", "text damaged"])
def test_restore_refuses_when_something_of_then_is_gone_and_changes_nothing(store: Store, harm: str) -> None:
    commit(store, "a", x="one")
    (doomed,) = parts_of(store, "tasks") if harm.startswith("part") else (store.paths.root / "files").iterdir()
    commit(store, "b", x="two")
    if harm.endswith("gone"):
        doomed.unlink()
    else:
        flip(doomed, 1)
    before = contents(store)
    with pytest.raises(StoreError) as caught:
        restore_commit(store.paths.root, 1)
    assert doomed.name in str(caught.value)
    after = {name: text for name, text in contents(store).items() if not name.startswith(".pending/")}
    assert after == before
    write(store, "next", rollouts=[])
    assert file_of(store, "x").read_text() == "two"


def test_a_commit_that_is_not_there_is_refused_with_those_that_are(store: Store) -> None:
    commit(store, "a")
    commit(store, "b")
    for number in (-1, 3, 10**9):
        with pytest.raises(UsageError, match=rf"no commit {number}; known: 0, 1, 2 \("):
            restore_commit(store.paths.root, number)
    store.clean()
    with pytest.raises(UsageError, match=r"no commit 1; known: 2 \(`rubrics clean` forgets the others\)"):
        restore_commit(store.paths.root, 1)
    assert commit_of(store.paths.root, 2) == store.manifest()


@pytest.mark.parametrize("how", [Killed, OSError])
def test_a_run_that_ends_between_the_manifest_and_the_rubric_files_is_mended_by_the_next_writer(
    store: Store, how: type[BaseException]
) -> None:
    """A full disk there took the files away for good: the table spoke of rubrics that no file held."""
    commit(store, "a", x="one")
    with patch.object(Pending, "put_in_place", side_effect=how), pytest.raises(how):
        commit(store, "b", x="two", y="new")
    assert names(store) == "b"
    assert rubric_files(store) == {"x.solution.yaml": b"one"}
    write(store, "next", rollouts=[])
    assert rubric_files(store) == {"x.solution.yaml": b"two", "y.solution.yaml": b"new"}
    assert not store.paths.pending.exists()


@pytest.mark.parametrize("moved", [0, 1, 2])
def test_a_run_killed_while_its_files_are_moved_is_mended_by_the_next_writer(store: Store, moved: int) -> None:
    commit(store, "a", x="one")
    with patch("rubrics.store.pending.sync_folder", side_effect=[*[None] * moved, Killed]), pytest.raises(Killed):
        commit(store, "b", x="two", y="new", z="last")
    write(store, "next", rollouts=[])
    assert {name[0]: text for name, text in rubric_files(store).items()} == {"x": b"two", "y": b"new", "z": b"last"}


def test_a_restore_that_is_killed_before_its_files_is_mended_by_the_next_writer(store: Store) -> None:
    """Files of rubrics that the restored commit did not have stayed, and were scored by."""
    commit(store, "a", x="one")
    commit(store, "b", x="two", y="new")
    with patch.object(Pending, "put_in_place", side_effect=Killed), pytest.raises(Killed):
        restore_commit(store.paths.root, 1)
    assert names(store) == "a"
    write(store, "next", rollouts=[])
    assert rubric_files(store) == {"x.solution.yaml": b"one"}


def test_files_of_a_run_that_fails_are_forgotten(store: Store) -> None:
    commit(store, "a", x="one")
    with pytest.raises(StoreError, match="stands 2 times"):
        commit(store, "bb", x="two")
    assert rubric_files(store) == {"x.solution.yaml": b"one"}
    assert not store.paths.pending.exists()


def test_a_manifest_that_could_not_be_written_leaves_the_store_as_it_was(store: Store) -> None:
    commit(store, "a", x="one")
    with patch.object(commit_module, "write_manifest", side_effect=OSError), pytest.raises(OSError):
        commit(store, "b", x="two")
    assert (names(store), rubric_files(store)) == ("a", {"x.solution.yaml": b"one"})
    commit(store, "c")
    assert rubric_files(store) == {"x.solution.yaml": b"one"}


def test_clean_keeps_the_texts_of_now_and_forgets_the_others(store: Store) -> None:
    commit(store, "a", x="one")
    commit(store, "b", x="two", y="new")
    assert len(list((store.paths.root / "files").iterdir())) == 3
    store.clean()
    texts = {item.read_text() for item in (store.paths.root / "files").iterdir()}
    assert texts == {"two", "new"}
    assert [row["commit"] for row in changes(store.paths.root)] == [2]


def test_the_commands_print_the_history_and_bring_a_commit_back(store: Store) -> None:
    commit(store, "a")
    commit(store, "bc")
    where = ["--store", str(store.paths.root), "--json"]
    listed = CliRunner().invoke(cli, ["history", *where])
    assert '"changed":"tasks 1 -> 2"' in listed.output.replace(": ", ":")
    done = CliRunner().invoke(cli, ["restore", "1", *where])
    assert done.exit_code == 0
    assert "tasks 2 -> 1" in done.output
    assert names(store) == "a"
    assert CliRunner().invoke(cli, ["restore", "9", *where]).exit_code != 0
