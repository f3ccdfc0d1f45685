"""Every write of a run fails once: the store is as before or as after, and the next run makes what an undisturbed one
makes."""

from __future__ import annotations

import builtins
import errno
import io
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from rubrics.exports.export import export
from rubrics.exports.targets import target_named
from rubrics.stages.pipeline import run_stages
from rubrics.stages.stage import run_here
from rubrics.store.history import commits
from rubrics.store.manifest import Manifest
from rubrics.store.repair import look_over
from rubrics.store.store import Store

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample"
DUMPS = tuple(str(SAMPLE / name) for name in ("tasks.jsonl", "runs", "outcomes.json"))
STAGES = ("ingest", "facts", "test", "synthesize", "score", "audit", "reward")
ERRORS = (errno.ENOSPC, errno.EIO)
"""What a write finds, in turn: the disk is full, the device is broken."""


@dataclass(frozen=True)
class State:
    """A store at the end of a stage: where a copy lies, and everything that people see of it."""

    root: Path
    rubrics: dict[str, bytes]
    parts: dict[str, set[str]]


def parts_of(manifest: Manifest) -> dict[str, set[str]]:
    return {name: set(version.parts) for name, version in manifest.tables.items()}


def state_of(root: Path) -> State:
    store = Store.open(root)
    return State(root, {item.name: item.read_bytes() for item in root.glob("rubrics/*")}, parts_of(store.manifest()))


@contextmanager
def writes(folder: Path, fail: int | None = None) -> Iterator[Callable[[], int]]:
    """Counts, in a folder, opening for writing, the first write to what was opened, syncing and renaming; the one with
    this number fails, a write after half of what it was given."""
    made, opened, replaced, synced = 0, builtins.open, os.replace, os.fsync

    def step(about: Any = None) -> None:
        nonlocal made
        number, made = made, made + 1
        if number == fail:
            code = ERRORS[number % len(ERRORS)]
            raise OSError(code, os.strerror(code), *([] if about is None else [str(about)]))

    def opening(file: Any, mode: str = "r", *given: Any, **named: Any) -> Any:
        if not isinstance(file, str | Path) or not Path(file).is_relative_to(folder) or not set(mode) & set("wax+"):
            return opened(file, mode, *given, **named)
        step(file)
        handle = opened(file, mode, *given, **named)
        write = handle.write

        def writing(content: Any) -> int:
            handle.write = write
            try:
                step()
            except OSError:
                write(content[: len(content) // 2])
                raise
            return int(write(content))

        handle.write = writing
        return handle

    def replacing(source: Any, target: Any) -> None:
        step(target)
        replaced(source, target)

    def syncing(handle: Any) -> None:
        step()
        synced(handle)

    with (
        patch.object(builtins, "open", opening), patch.object(io, "open", opening),
        patch.object(os, "replace", replacing), patch.object(os, "fsync", syncing),
    ):  # fmt: skip
        yield lambda: made


def run(root: Path, *stages: str) -> None:
    values = {"store": str(root), "dumps": list(DUMPS), "chunk": 4, "tasks": "sample__spans-8"}
    for name in stages:
        run_stages((name,), {**values, **({"from_logs": [str(SAMPLE / "runs")]} if name == "test" else {})}, run_here)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[State, State]]:
    """By stage: the store before and after it."""
    folder = tmp_path_factory.mktemp("undisturbed")
    Store.create(folder / "new")
    before, found = state_of(folder / "new"), {}
    for stage in STAGES:
        root = Path(shutil.copytree(before.root, folder / stage))
        run(root, stage)
        found[stage] = (before, state_of(root))
        before = found[stage][1]
    return found


@pytest.mark.parametrize("stage", STAGES)
def test_a_full_or_broken_disk_at_any_write_leaves_a_whole_store_and_the_next_run_ends_the_same(
    undisturbed: dict[str, tuple[State, State]], stage: str, tmp_path: Path
) -> None:
    before, after = undisturbed[stage]
    whole = [parts_of(item) for item in commits(after.root)]
    for number in count():
        root = Path(shutil.copytree(before.root, tmp_path / str(number)))
        error: OSError | None = None
        with writes(root, number) as counted:
            try:
                run(root, stage)
            except OSError as raised:
                error = raised
        if counted() <= number:
            assert number > 10, "the stage writes nothing"
            assert state_of(root).parts == after.parts
            return
        assert error is not None, f"write {number} failed, and nobody was told"
        assert error.errno in ERRORS
        assert str(root) in str(error), "the error says which file or folder it is about"
        assert state_of(root).parts in whole, f"write {number}: half a commit"
        assert not list(look_over(root))
        run(root, stage)
        assert_ended(root, after)
        shutil.rmtree(root)


def assert_ended(root: Path, after: State) -> None:
    """The store is what an undisturbed run makes, and nothing lies about."""
    ended = state_of(root)
    assert ended.parts == after.parts
    assert ended.rubrics == after.rubrics
    assert not (root / ".pending").exists()
    assert not (root / "work").exists()
    assert not list(root.rglob(".*.tmp"))
    assert not list(root.glob("rubrics/*.old"))


def test_a_full_or_broken_disk_at_any_write_of_an_export_leaves_the_one_before_in_its_place(
    undisturbed: dict[str, tuple[State, State]], tmp_path: Path
) -> None:
    """The earlier export was moved aside, and stayed there when the new one could not take its place."""
    store, place = Store.open(undisturbed["reward"][1].root), tmp_path / "out" / "verl"
    export(store, target_named("verl"), place, force=True)
    (place / "mine").write_text("of the earlier export")
    before = {item.name: item.read_bytes() for item in place.iterdir()}
    for number in count():
        with writes(place.parent, number) as counted, suppress(OSError):
            export(store, target_named("verl"), place, force=True, overwrite=True)
        if counted() <= number:
            assert number > 3, "the export writes nothing"
            break
        assert {item.name: item.read_bytes() for item in place.iterdir()} == before, f"write {number}"
        assert os.listdir(place.parent) == ["verl"]
    del before["mine"]
    assert {item.name: item.read_bytes() for item in place.iterdir()} == before


def test_two_whole_runs_make_the_same_parts(undisturbed: dict[str, tuple[State, State]], tmp_path: Path) -> None:
    root = tmp_path / "store"
    run(root, *STAGES)
    _, after = undisturbed["reward"]
    assert state_of(root).parts == after.parts


def test_a_whole_run_again_makes_no_commit(undisturbed: dict[str, tuple[State, State]], tmp_path: Path) -> None:
    root = Path(shutil.copytree(undisturbed["reward"][1].root, tmp_path / "store"))
    before = (root / "manifest.json").read_bytes()
    run(root, *STAGES)
    assert (root / "manifest.json").read_bytes() == before


def test_rubric_files_that_a_kill_left_aside_are_there_before_score_looks_for_them(
    undisturbed: dict[str, tuple[State, State]], tmp_path: Path
) -> None:
    """Score read the files before it became a writer: it found no rubrics and graded nothing."""
    root = Path(shutil.copytree(undisturbed["synthesize"][0].root, tmp_path / "store"))
    dying = patch("rubrics.store.pending.Pending.put_in_place", side_effect=KeyboardInterrupt)
    with dying, pytest.raises(KeyboardInterrupt):
        run(root, "synthesize")
    assert not (root / "rubrics").exists()
    run(root, "score")
    assert state_of(root).parts["grades"] == undisturbed["score"][1].parts["grades"]
