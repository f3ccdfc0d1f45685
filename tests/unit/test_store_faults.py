"""Every write of a run fails once: the store is as before or as after, and the next run makes what an undisturbed one
makes."""

from __future__ import annotations

import builtins
import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from store_helpers import Rows, tables

from rubrics.stages.pipeline import run_stages
from rubrics.stages.stage import run_here
from rubrics.store import files, parts
from rubrics.store.repair import look_over
from rubrics.store.store import Store

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample"
DUMPS = tuple(str(SAMPLE / name) for name in ("tasks.jsonl", "runs", "outcomes.json"))
STAGES = ("ingest", "facts", "synthesize", "score", "audit", "reward")
SHARES = [0.0, 0.2, 0.4, 0.6, 0.8, 0.92, 1.0]
"""Where in a stage's writes one fails: 42 places of a whole run. The last ones come after the manifest."""


@dataclass(frozen=True)
class State:
    """A store at the end of a stage: where a copy lies, and everything that people see of it."""

    root: Path
    rows: Rows
    rubrics: dict[str, bytes]
    parts: dict[str, tuple[str, ...]]


def state_of(root: Path) -> State:
    store = Store.open(root)
    named = {name: version.parts for name, version in store.manifest().tables.items()}
    rows = {name: sorted(found, key=repr) for name, found in tables(store).items()}
    return State(root, rows, {item.name: item.read_bytes() for item in root.glob("rubrics/*")}, named)


@contextmanager
def writes(fail: int | None = None) -> Iterator[Callable[[], int]]:
    """Counts opening for writing, syncing and renaming in the store; the one with this number finds the disk full."""
    count = 0

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            nonlocal count
            number, count = count, count + 1
            if number == fail:
                about = given[0] if isinstance(given[0], Path) else None
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), about)
            return real(*given, **named)

        return call

    opened = counted(builtins.open)
    with (
        patch.object(files, "open", opened, create=True), patch.object(parts, "open", opened, create=True),
        patch.object(os, "replace", counted(os.replace)), patch.object(os, "fsync", counted(os.fsync)),
    ):  # fmt: skip
        yield lambda: count


def run(root: Path, *stages: str) -> None:
    run_stages(stages, {"store": str(root), "dumps": list(DUMPS), "chunk": 8}, run_here)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[State, State, int]]:
    """By stage: the store before and after it, and how many writes it took."""
    folder = tmp_path_factory.mktemp("undisturbed")
    Store.create(folder / "new")
    before, found = state_of(folder / "new"), {}
    for stage in STAGES:
        root = Path(shutil.copytree(before.root, folder / stage))
        with writes() as count:
            run(root, stage)
        after = state_of(root)
        found[stage] = (before, after, count())
        before = after
    return found


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("stage", STAGES)
def test_a_full_disk_at_any_write_leaves_a_whole_store_and_the_next_run_ends_the_same(
    undisturbed: dict[str, tuple[State, State, int]], stage: str, share: float, tmp_path: Path
) -> None:
    before, after, count = undisturbed[stage]
    root = Path(shutil.copytree(before.root, tmp_path / "store"))
    with writes(round(share * (count - 1))), pytest.raises(OSError, match="No space left") as caught:
        run(root, stage)
    assert caught.value.errno == errno.ENOSPC
    assert str(root) in str(caught.value), "the error says which file or folder it is about"
    found = state_of(root)
    for name, rows in found.rows.items():
        assert rows in (before.rows[name], after.rows[name]), name
    assert not list(look_over(root))
    run(root, stage)
    ended = state_of(root)
    assert ended.rows == after.rows
    assert ended.rubrics == after.rubrics
    assert {name: set(parts) for name, parts in ended.parts.items()} == {
        name: set(parts) for name, parts in after.parts.items()
    }
    assert not (root / ".pending").exists()
    assert not list(root.rglob(".*.tmp"))
    assert not list(root.glob("rubrics/*.old"))


def test_two_whole_runs_make_the_same_parts(undisturbed: dict[str, tuple[State, State, int]], tmp_path: Path) -> None:
    root = tmp_path / "store"
    run(root, *STAGES)
    _, after, _ = undisturbed["reward"]
    assert state_of(root).parts == after.parts


def test_a_whole_run_again_makes_no_commit(undisturbed: dict[str, tuple[State, State, int]], tmp_path: Path) -> None:
    root = Path(shutil.copytree(undisturbed["reward"][1].root, tmp_path / "store"))
    before = (root / "manifest.json").read_bytes()
    run(root, *STAGES)
    assert (root / "manifest.json").read_bytes() == before


def test_rubric_files_that_a_kill_left_aside_are_there_before_score_looks_for_them(
    undisturbed: dict[str, tuple[State, State, int]], tmp_path: Path
) -> None:
    """Score read the files before it became a writer: it found no rubrics and graded nothing."""
    root = Path(shutil.copytree(undisturbed["synthesize"][0].root, tmp_path / "store"))
    dying = patch("rubrics.store.pending.Pending.put_in_place", side_effect=KeyboardInterrupt)
    with dying, pytest.raises(KeyboardInterrupt):
        run(root, "synthesize")
    assert not (root / "rubrics").exists()
    run(root, "score")
    assert state_of(root).rows["grades"] == undisturbed["score"][1].rows["grades"]
