"""`rubrics prepare --model` as a stage, in a real sandbox: the model works in a copy, the row tells the result."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from environment_helpers import RECIPE, started_or_skipped
from hack_helpers import MODEL, Step, asked, calls
from leaks import FIXED, build

from rubrics.environments.session import Backend, Session
from rubrics.errors import InfraError
from rubrics.preparation.config import Preparation
from rubrics.preparation.loop import PROBES
from rubrics.preparation.model_probe import model_probe
from rubrics.records.tasks import SealedTask, Task
from rubrics.stages.options import Options
from rubrics.stages.prepare import Prepare
from rubrics.stages.stage import drive, run_here
from rubrics.store.store import Store

HIDDEN = "quill/theme.dat"


@pytest.fixture
def stored(tmp_path: Path) -> tuple[Store, Task, Backend]:
    """A store with one task, whose repository holds an encoded copy of the answer."""
    (tmp_path / "box").mkdir()
    box, task, sealed = build(tmp_path / "box")
    (box.repo / HIDDEN).write_bytes(base64.b64encode(gzip.compress(FIXED.encode())))
    recipe = json.dumps({**RECIPE, "packages": [*RECIPE["packages"], "git"]})
    task = replace(task, repository=str(box.repo), recipe=recipe)
    backend = cast(Backend, started_or_skipped("bubblewrap"))
    try:
        backend.open(task, None).close()
    except InfraError as error:
        pytest.skip(f"no base with git: {error}")
    return store_of(tmp_path / "store", task, sealed), task, backend


def store_of(folder: Path, task: Task, sealed: SealedTask) -> Store:
    store = Store.create(folder)
    patches = {name: getattr(sealed, name).open_for("store") for name in ("test_patch", "reference_patch")}
    names = ("task_id", "repo", "base_commit", "spec", "repository", "recipe", "source")
    with store.writing() as run:
        run.append("tasks", [{name: getattr(task, name) for name in names}])
        run.append("sealed", [{"task_id": task.task_id, "hints": None, **patches}])
        run.append(
            "rollouts", [{"rollout_id": "r0", "task_id": task.task_id, "group_id": "g", "run": "a", "patch": ""}]
        )
    return store


def row_of(
    stored: tuple[Store, Task, Backend], *conversations: Sequence[Step],
    reopen: Callable[[Task, str], Session] | None = None,
) -> dict[str, object]:  # fmt: skip
    store, _, backend = stored

    def reopened(task: Task, saved: str) -> Session:
        return backend.open(task, None, saved=saved)

    with asked(calls(*conversations)) as (client, _):
        stage = Prepare(
            store, Options(str(store.paths.root)), backend, Preparation(text_bytes=100), (*PROBES, model_probe(client)),
            reopen or reopened,
        )  # fmt: skip
        drive(stage, store, run_here, 1)
    (row,) = store.rows("environments")
    return row


def submitted(*places: str) -> Step:
    evidence = [{"place": "run:0", "quote": "looked"}]
    common = {"kind": "answer_copy", "detail": "decodes to it", "remedy": "remove", "evidence": evidence}
    return "submit_findings", {"reason": "looked everywhere", "findings": [{**common, "place": p} for p in places]}


LOOK: Step = ("run_command", {"command": "echo looked; rm -rf quill tests; touch /root/left"})


def test_a_leak_goes_and_what_the_model_did_to_its_copy_stays_there(stored: tuple[Store, Task, Backend]) -> None:
    _, task, backend = stored
    row = row_of(stored, [LOOK, submitted(HIDDEN)], [LOOK, submitted()])
    assert (row["clean"], row["probe_model"], row["probe_result"]) == (True, MODEL, "found_nothing")
    passes = json.loads(str(row["probes"]))
    assert [item["kind"] for found in passes for item in found if item["probe"] == f"model:{MODEL}"] == ["answer_text"]
    session = backend.open(task, None, saved=str(row["image"]))
    try:
        said = session.run(f"ls quill {HIDDEN} /root/left; true", 60).output
    finally:
        session.close()
        backend.close()
    assert "fields.py" in said
    assert said.count("No such file") == 2


def test_a_copy_that_cannot_be_opened_is_a_look_that_did_not_finish(stored: tuple[Store, Task, Backend]) -> None:
    store, _, backend = stored

    def refuse(task: Task, saved: str) -> Session:
        raise InfraError("disk_full", f"{saved}: no room")

    row = row_of(stored, [LOOK, submitted()], reopen=refuse)
    backend.close()
    assert (row["clean"], row["probe_result"]) == (True, "unfinished_disk_full")
    (line,) = store.rows("census", where="kind = 'unfinished_disk_full'")
    assert line["place"] == row["task_id"]
