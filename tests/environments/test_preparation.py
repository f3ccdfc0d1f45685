"""Answers planted in an environment are found, scrubbed and proved gone; what belongs to base stays and works."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from leaks import LEAKS, Box, build, copy, git, readable

from rubrics.errors import InfraError
from rubrics.preparation.config import Preparation
from rubrics.preparation.findings import inside
from rubrics.preparation.loop import prepare, probe
from rubrics.preparation.shell import decoded
from rubrics.records.tasks import SealedTask, Task


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> tuple[Box, Task, SealedTask]:
    return build(tmp_path_factory.mktemp("environment"))


def test_a_careful_image_is_changed_once_and_then_nothing_is_found(
    clean: tuple[Box, Task, SealedTask], tmp_path: Path
) -> None:
    original, task, sealed = clean
    box = copy(original, tmp_path)
    prepared = prepare(box.session(), task, sealed, Preparation(root=str(box.root)))
    assert prepared.clean, prepared.open
    assert probe(box.session(), task, sealed, Preparation(root=str(box.root))) == ()
    assert_base_works(box, task)


IN_GIT = [name for name in LEAKS if name.startswith("git_")]
FILES = [name for name in LEAKS if not name.startswith("git_")]
"""Leaks whose remedy is to remove what was planted: several at once, for none is closed by what closes another."""
TOGETHER = [FILES[start::6] for start in range(6)]


@pytest.mark.parametrize("name", IN_GIT)
def test_a_planted_leak_is_found_before_and_gone_after(
    name: str, prepared_box: tuple[Box, Task, SealedTask], tmp_path: Path
) -> None:
    original, task, sealed = prepared_box
    box, leak = copy(original, tmp_path), LEAKS[name]
    leak.plant(box)
    assert bool(readable(box.root)) == leak.text
    config = Preparation(root=str(box.root))
    prepared = prepare(box.session(), task, sealed, config)
    assert prepared.rounds[0], "not found before scrubbing"
    assert prepared.clean, (prepared.open, prepared.proof, prepared.notes)
    assert readable(box.root) == []
    assert_base_works(box, task)


@pytest.mark.parametrize("names", TOGETHER, ids=lambda names: f"{names[0]} and others")
def test_files_that_leak_are_each_found_where_they_lie_and_gone_after(
    names: list[str], prepared_box: tuple[Box, Task, SealedTask], tmp_path: Path
) -> None:
    original, task, sealed = prepared_box
    box = copy(original, tmp_path)
    planted: dict[str, set[str]] = {}
    for name in names:
        before, told = files_of(box), readable(box.root)
        LEAKS[name].plant(box)
        planted[name] = files_of(box) - before
        assert (readable(box.root) != told) == LEAKS[name].text, name
    prepared = prepare(box.session(), task, sealed, Preparation(root=str(box.root)))
    found = [path for finding in prepared.rounds[0] for path in (finding.place, *finding.paths)]
    assert {finding.remedy for finding in prepared.rounds[0]} <= {"remove", "rewrite"}
    for name, files in planted.items():
        assert [path for path in found if any(inside(file, path) for file in files)], f"{name}: not found"
    assert prepared.clean, (prepared.open, prepared.proof, prepared.notes)
    assert readable(box.root) == []
    assert_base_works(box, task)


def files_of(box: Box) -> set[str]:
    return {f"{path}" for path in box.root.rglob("*") if not path.is_dir()}


@pytest.fixture(scope="module")
def prepared_box(
    clean: tuple[Box, Task, SealedTask], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Box, Task, SealedTask]:
    """An environment in which a full pass finds nothing, so that what is found later is the planted leak."""
    original, task, sealed = clean
    box = copy(original, tmp_path_factory.mktemp("prepared"))
    prepare(box.session(), task, sealed, Preparation(root=str(box.root)))
    assert probe(box.session(), task, sealed, Preparation(root=str(box.root))) == ()
    return box, task, sealed


def assert_base_works(box: Box, task: Task) -> None:
    assert git(box.repo, "rev-parse", "HEAD") == box.base
    assert git(box.repo, "status", "--porcelain", "--untracked-files=no") == ""
    assert git(box.repo, "fsck", "--full") == ""
    assert git(box.repo, "tag").split() == ["v0.9", "v1.0"]
    assert len(git(box.repo, "log", "--all", "--format=%H").split()) == 2
    for kept in (
        "vendor/zlib-1.2.patch",
        "tests/data/sample.log",
        "tests/data/backup.orig",
        "tests/data/page.zip",
        "CHANGELOG.md",
    ):
        assert (box.repo / kept).is_file(), kept
    assert (box.packages / "other/__init__.py").is_file()
    assert (box.root / "root/.profile").is_file()
    assert task.test_command is not None
    done = subprocess.run(task.test_command, shell=True, cwd=box.repo, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not list((box.root / "tmp").glob("rubrics-prepare*"))


@pytest.mark.parametrize("printed", ["sh: 3: base64: not found\n", "sh: base64: command not found", "éééé", "YQBi*"])
def test_an_image_whose_base64_is_none_is_told_by_name_and_ends_no_run(printed: str) -> None:
    """An image without that program ended the whole run as a fault of this one, or was read as having no files."""
    with pytest.raises(InfraError, match="`base64` of the image prints none"):
        decoded(printed)
    assert decoded("YQBiAGM=\n") == ["a", "b"]
