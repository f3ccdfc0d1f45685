"""`rubrics prepare`: stored per task, joined to rewards, honest about failures."""

from __future__ import annotations

import json
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

    def save(self, session: Session, owner: str) -> str:
        return f"kept for {Path(owner).name}"

    def close(self) -> None:
        pass


def store_of(folder: Path, task: Task, sealed: SealedTask) -> Store:
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
            for number, name in enumerate((task.task_id, task.task_id, "gone-1"))
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
