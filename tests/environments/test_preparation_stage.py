"""`rubrics prepare`: stored per task, joined to rewards, honest about failures."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

import pytest
from leaks import LEAKS, Box, FolderSession, build

from rubrics.environments.session import Session
from rubrics.errors import InfraError, UsageError
from rubrics.preparation.config import Preparation
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import SealedTask, Task
from rubrics.stages.options import Options
from rubrics.stages.prepare import Prepare
from rubrics.stages.preparing import preparation_config
from rubrics.stages.stage import drive, run_here
from rubrics.store.store import Store


@pytest.fixture
def planted(tmp_path: Path) -> tuple[Box, Task, SealedTask]:
    """A repository with three leaks of its own."""
    (tmp_path / "box").mkdir()
    box, task, sealed = build(tmp_path / "box")
    for name in ("git_branch", "git_stash", "patch_file"):
        LEAKS[name].plant(box)
    return box, task, sealed


class _Folder:
    """A backend whose environments are one folder."""

    def __init__(self, folder: Path, name: str = "folder", broken: bool = False) -> None:
        self.name = name
        self._folder = folder
        self._broken = broken

    def open(self, task: Task, rollout: Rollout | None) -> Session:
        if self._broken:
            raise InfraError("no_image", "image quill:1 is not there; load it")
        return FolderSession(self._folder)

    def save(self, session: Session, owner: str, without: Collection[str] = ()) -> str:
        return f"kept for {Path(owner).name}"

    def close(self) -> None:
        pass


def store_of(folder: Path, task: Task, sealed: SealedTask, rollouts: int = 3) -> Store:
    store = Store.create(folder)
    patches = {name: getattr(sealed, name).open_for("store") for name in ("test_patch", "reference_patch")}
    row = {
        "task_id": task.task_id, "repo": task.repo, "base_commit": task.base_commit, "spec": task.spec,
        "image": "quill:1", "fail_to_pass": [], "pass_to_pass": [], "source": "",
    }  # fmt: skip
    with store.writing() as run:
        run.append("tasks", [row])
        run.append("sealed", [{"task_id": task.task_id, "hints": None, **patches}])
        run.append("rollouts", [
            {"rollout_id": f"r{number}", "task_id": name, "group_id": name, "run": "a", "attempt": number, "patch": ""}
            for number, name in enumerate((task.task_id, task.task_id, "gone-1")[:rollouts])
        ])  # fmt: skip
        run.append("rewards", [{"rollout_id": "r0", "task_id": task.task_id, "group_id": task.task_id, "reward": 1.0}])
    return store


def test_what_was_found_and_proved_is_stored_and_joined_to_rewards(
    planted: tuple[Box, Task, SealedTask], tmp_path: Path
) -> None:
    box, task, sealed = planted
    store = store_of(tmp_path / "store", task, sealed)
    config = Preparation(root=str(box.root))
    stage = Prepare(store, Options(str(tmp_path / "store")), _Folder(box.repo), config)
    assert drive(stage, store, run_here, window=1) == 2
    (row,) = store.rows("environments")
    assert (row["clean"], row["image"], row["failure_class"]) == (True, "kept for store", None)
    assert json.loads(row["proof"])["repositories"][0]["objects_beyond"] == 0
    assert {item["kind"] for item in json.loads(row["probes"])[0]} >= {"git_branch", "git_stash", "patch_file"}
    assert json.loads(row["probes"])[-1] == []
    (joined,) = store.query("FROM environment_of_reward").to_pylist()
    assert (joined["environment_clean"], joined["leaks_left"], joined["reward"]) == (True, 0, 1.0)
    census = {item["kind"] for item in store.rows("census", where="stage = 'prepare'")}
    assert census == {"clean", "no_task"}


def test_a_task_without_rollouts_is_prepared_and_progress_speaks_of_tasks(
    planted: tuple[Box, Task, SealedTask], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Tasks were taken from rollouts: a store of tasks alone was left as it was, and called finished."""
    box, task, sealed = planted
    store = store_of(tmp_path / "store", task, sealed, rollouts=0)
    stage = Prepare(store, Options(str(tmp_path / "store")), _Folder(box.repo), Preparation(root=str(box.root)))
    with caplog.at_level("INFO", "rubrics"):
        assert drive(stage, store, run_here, window=1) == 1
    assert [row["clean"] for row in store.rows("environments")] == [True]
    assert "prepare: 1 tasks done" in caplog.text
    assert "rollouts" not in caplog.text


def test_a_store_without_tasks_is_said_to_hold_none(planted: tuple[Box, Task, SealedTask], tmp_path: Path) -> None:
    box, task, sealed = planted
    store = store_of(tmp_path / "store", task, sealed)
    options = Options(str(tmp_path / "store"), tasks="other-*")
    assert drive(Prepare(store, options, _Folder(box.repo), Preparation(root=str(box.root))), store, run_here, 1) == 0
    (line,) = store.rows("census", where="stage = 'prepare'")
    assert (line["kind"], line["subject"]) == ("no_tasks", "run")


def test_what_was_not_looked_at_is_counted_and_stands_with_the_proof(
    planted: tuple[Box, Task, SealedTask], tmp_path: Path
) -> None:
    box, task, sealed = planted
    box.put("opt/large.txt", "x" * 5_000)
    store = store_of(tmp_path / "store", task, sealed)
    config = Preparation(root=str(box.root), text_bytes=4_000)
    drive(Prepare(store, Options(str(tmp_path / "store")), _Folder(box.repo), config), store, run_here, 1)
    (row,) = store.rows("environments")
    assert json.loads(row["proof"])["not_looked_at"] == {"larger than 4,000 bytes": [1, 5_000]}
    (line,) = store.rows("census", where="kind = 'not_looked_at'")
    assert (line["place"], line["detail"]) == (task.task_id, "1 files of 5,000 bytes: larger than 4,000 bytes")


def test_an_environment_that_cannot_be_opened_is_neither_clean_nor_unclean(
    planted: tuple[Box, Task, SealedTask], tmp_path: Path
) -> None:
    box, task, sealed = planted
    store = store_of(tmp_path / "store", task, sealed)
    config = Preparation(root=str(box.root))
    drive(Prepare(store, Options(str(tmp_path / "store")), _Folder(box.repo, broken=True), config), store, run_here, 1)
    (row,) = store.rows("environments")
    assert (row["clean"], row["failure_class"], row["proof"]) == (None, "no_image", None)
    drive(Prepare(store, Options(str(tmp_path / "store")), _Folder(box.repo), config), store, run_here, 1)
    assert [row["clean"] for row in store.rows("environments")] == [True]


def test_this_machines_own_root_is_never_scrubbed(planted: tuple[Box, Task, SealedTask], tmp_path: Path) -> None:
    box, task, sealed = planted
    store = store_of(tmp_path / "store", task, sealed)
    with pytest.raises(UsageError, match="its root is this machine's"):
        Prepare(store, Options(str(tmp_path / "store")), _Folder(box.repo, "bare"), Preparation())


def test_the_configuration_is_a_table_of_a_toml_file(tmp_path: Path) -> None:
    file = tmp_path / "rubrics.toml"
    file.write_text('[preparation]\nkeep = ["/logs/agent*"]\nrounds = 3\n')
    config = preparation_config(str(file))
    assert (config.keep, config.rounds) == (("/logs/agent*",), 3)
    file.write_text("[preparation]\nroot = '../x'\n")
    with pytest.raises(UsageError, match="absolute"):
        preparation_config(str(file))
