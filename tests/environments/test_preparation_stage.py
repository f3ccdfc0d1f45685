"""`rubrics prepare` in every backend that isolates: stored per task, joined to rewards, honest about failures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from environment_helpers import RECIPE, started_or_skipped
from leaks import FIXED, LEAKS, Box, FolderSession, build

from rubrics.environments.session import Environment, Session
from rubrics.errors import InfraError, UsageError
from rubrics.preparation.config import Preparation
from rubrics.preparation.loop import prepare
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


@pytest.mark.parametrize("backend", ["docker", "bubblewrap"])
def test_a_repository_is_scrubbed_inside_a_real_environment(
    backend: str, base: None, planted: tuple[Box, Task, SealedTask]
) -> None:
    box, task, sealed = planted
    recipe = {**RECIPE, "packages": [*RECIPE["packages"], "git"]}
    inside = replace(task, repository=str(box.repo), recipe=json.dumps(recipe))
    environment = started_or_skipped(backend)
    try:
        session = opened_or_skipped(environment, inside)
        session.write("/root/.bash_history", FIXED.encode())
        session.write("/solution/solve.sh", FIXED.encode())
        prepared = prepare(session, inside, sealed, Preparation())
        assert prepared.clean, (prepared.open, prepared.notes)
        kinds = {finding.kind for finding in prepared.rounds[0]}
        assert {"git_branch", "git_stash", "patch_file", "shell_history", "harness_folder"} <= kinds
        assert session.run("git status --porcelain; git log --all --format=%H | wc -l", 60).output.strip() == "2"
        assert session.run("ls /solution /root/.bash_history", 60).exit_code != 0
        assert session.run("ls -A /tmp", 60).output == ""
        session.close()
    finally:
        environment.close()


def opened_or_skipped(environment: Environment, task: Task) -> Session:
    """Building the base with git in it needs a package mirror the first time."""
    try:
        return environment.open(task, None)
    except InfraError as error:
        pytest.skip(f"no base with git: {error}")


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
    assert (row["clean"], row["image"], row["failure_class"]) == (True, "quill:1", None)
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
