"""An image or repository that is a folder is known by what it holds, not by where it lies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from environment_helpers import small_task, started_or_skipped, tiny_root

from rubrics.environments.bubblewrap import Bubblewrap
from rubrics.environments.content import content_digest
from rubrics.environments.docker_rollouts import DockerEnvironment
from rubrics.environments.state import State
from rubrics.errors import InfraError


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    found = State(tmp_path / "state")
    yield found
    found.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "folder"
    (root / "a" / "empty").mkdir(parents=True)
    (root / "a" / "file").write_text("one\n")
    (root / "link").symlink_to("a/file")
    return root


def rewritten(path: Path, text: str) -> None:
    """Other content of the same size, with the old time of change put back."""
    times = path.stat()
    path.write_text(text)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


CHANGES = {
    "content": lambda root: (root / "a" / "file").write_text("two\n"),
    "content of the same size and time": lambda root: rewritten(root / "a" / "file", "two\n"),
    "a mode": lambda root: (root / "a" / "file").chmod(0o755),
    "a mode of a folder": lambda root: (root / "a" / "empty").chmod(0o700),
    "a new file": lambda root: (root / "a" / "new").write_text(""),
    "a new folder": lambda root: (root / "a" / "new").mkdir(),
    "a folder less": lambda root: (root / "a" / "empty").rmdir(),
    "a name": lambda root: (root / "a" / "file").rename(root / "a" / "other"),
    "a link": lambda root: ((root / "link").unlink(), (root / "link").symlink_to("a")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_in_a_folder_changes_its_digest(change: str, folder: Path, state: State) -> None:
    """A folder's digest was one of its path."""
    before = content_digest(folder, state)
    assert content_digest(folder, state) == before
    CHANGES[change](folder)
    assert content_digest(folder, state) != before


def test_equal_folders_have_one_digest_wherever_they_lie(folder: Path, state: State) -> None:
    before = content_digest(folder, state)
    moved = folder.rename(folder.with_name("moved"))
    assert content_digest(moved, state) == before


def test_a_folder_that_has_not_changed_is_listed_and_not_read(
    folder: Path, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rubrics.environments.content.SETTLED", 0)
    before = content_digest(folder, state)
    monkeypatch.setattr("rubrics.environments.content.digest_of_path", None)
    assert content_digest(folder, state) == before


def test_what_cannot_be_read_is_infra(folder: Path, state: State) -> None:
    with pytest.raises(InfraError, match="cannot be read"):
        content_digest(folder / "nothing", state)


@pytest.mark.parametrize("name", ["docker", "bubblewrap"])
def test_a_prepared_state_does_not_stand_once_the_folder_it_was_made_from_has_changed(
    name: str, base: None, tmp_path: Path
) -> None:
    root = tiny_root(tmp_path / "root")
    (root / "testbed" / "mark").write_text(str(tmp_path))
    task = small_task(tmp_path, image=str(root), recipe=None, repository=None)
    kept = ""
    for turn in range(3):
        environment = started_or_skipped(name)
        assert isinstance(environment, Bubblewrap | DockerEnvironment)
        with closing(environment):
            if turn == 0:
                with closing(environment.open(task, None)) as session:
                    kept = environment.save(session, "nobody")
            assert environment.stands(kept, task) is (turn < 2)
        if turn == 1:
            (root / "testbed" / "later").write_text("")
