"""Criteria of method `run`: a command in each rollout's own environment decides."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from rubrics.errors import RubricError, StoreError
from rubrics.rules.loading import from_yaml
from rubrics.stages.environments import Opener
from rubrics.stages.pipeline import run_stages
from rubrics.stages.stage import run_here
from rubrics.store.store import Store

ROOT = Path(__file__).resolve().parents[2]
_ITEM = """
  - id: {id}
    text: "What the command says."
    weight: 1
    method: run
    command: '{command}'
"""


def with_commands(sample: Store, root: Path, **commands: str) -> Store:
    """The sample's store, its textkit rubric asking for these commands."""
    shutil.copytree(sample.paths.root, root)
    file = root / "rubrics" / "sample__textkit-17.solution.yaml"
    items = "".join(_ITEM.format(id=name, command=command) for name, command in commands.items())
    file.write_text(file.read_text("utf-8").rstrip("\n") + items, "utf-8")
    return Store.open(root)


def grades(store: Store, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = store.query("FROM grades WHERE criterion_id = $name", {"name": name}).to_pylist()
    return found


@pytest.mark.skipif(not shutil.which("bwrap"), reason="no bubblewrap to run commands in")
def test_a_command_decides_by_its_exit_code_in_the_state_that_the_rollout_left(
    sample_store: Store, tmp_path: Path
) -> None:
    commands = {
        "holds": "echo seen; true",
        "fails": "false",
        "absent": "no-such-program",
        "new-code": "git diff --quiet HEAD; test $? = 1",
    }
    store = with_commands(sample_store, tmp_path / "store", **commands)
    options = {"store": str(store.paths.root), "env": "bubblewrap", "data": [str(ROOT / "data" / "sample")]}
    run_stages(("score",), {**options, "tasks": "sample__textkit-17"}, run_here)
    assert {(row["value"], row["level"]) for row in grades(store, "holds")} == {(1.0, "met")}
    assert {row["evidence"] for row in grades(store, "holds")} == {'[{"place":"run:0","quote":"seen"}]'}
    assert {(row["value"], row["reason"]) for row in grades(store, "fails")} == {(0.0, "run: false: exit code 1")}
    assert {row["value"] for row in grades(store, "new-code")} <= {0.0, 1.0}
    assert {(row["value"], row["failure_class"]) for row in grades(store, "absent")} == {(None, "no_program")}
    assert {row["score"] for row in store.query("FROM scores WHERE task_id = 'sample__textkit-17'").to_pylist()} != {
        None
    }


@pytest.mark.skipif(not shutil.which("bwrap"), reason="no bubblewrap to run commands in")
def test_rollouts_that_were_entered_without_preparation_were_not_counted(sample_store: Store, tmp_path: Path) -> None:
    store = with_commands(sample_store, tmp_path / "store", holds="true")
    options = {"store": str(store.paths.root), "env": "bubblewrap", "data": [str(ROOT / "data" / "sample")]}
    run_stages(("score",), {**options, "tasks": "sample__textkit-17"}, run_here)
    census = store.query("FROM census WHERE stage = 'score' AND place = 'run criteria'").to_pylist()
    assert {row["kind"]: row["count"] for row in census} == {
        "environment": 1, "unprepared": len(grades(store, "holds")),
    }  # fmt: skip


def test_a_stage_that_failed_left_what_it_had_opened_to_the_garbage_collector(
    sample_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []
    close = Opener.close
    monkeypatch.setattr(Opener, "close", lambda opener: (closed.append(opener.name), close(opener)))
    store = with_commands(sample_store, tmp_path / "store", holds="true")

    def failing(*_: Any) -> Any:
        raise StoreError("the disk is full")

    with pytest.raises(StoreError) as kept:
        run_stages(("score",), {"store": str(store.paths.root), "env": "bubblewrap"}, failing)
    assert (str(kept.value), len(closed)) == ("the disk is full", 1)


def test_an_environment_that_cannot_be_had_is_no_verdict(sample_store: Store, tmp_path: Path) -> None:
    store = with_commands(sample_store, tmp_path / "store", holds="true")
    options = {"store": str(store.paths.root), "env": "bubblewrap", "data": [str(tmp_path / "nothing")]}
    run_stages(("score",), {**options, "tasks": "sample__textkit-17"}, run_here)
    found = grades(store, "holds")
    assert found
    assert {row["value"] for row in found} == {None}
    assert all(row["failure_class"].startswith("infra_") for row in found)


def test_a_run_criterion_needs_a_command_and_has_two_levels() -> None:
    head = "task: t\nkind: solution\ncriteria:\n  - id: a\n    text: b\n    weight: 1\n    method: run\n"
    with pytest.raises(RubricError, match="command"):
        from_yaml(head, "f.yaml", lambda *_: None)
    with pytest.raises(RubricError, match="scale"):
        from_yaml(head + "    command: true it is\n    scale: [a, b, c]\n", "f.yaml", lambda *_: None)
