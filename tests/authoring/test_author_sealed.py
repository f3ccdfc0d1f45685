"""What is sealed never reaches the author: not its prompt, not a tool's answer, not the report of what is wrong."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from authoring_helpers import (
    BEHAVIOR,
    DUMPS,
    SAMPLE,
    SOLUTION,
    SPANS,
    author,
    calls,
    criterion,
    sample_store,
    spec_anchor,
    submission,
    submits,
    synthesized,
)
from model_server.server import ModelServer

from rubrics.facts.diffs import parse_patch
from rubrics.store.store import Store

LABELS = tuple(f"attempt-{n}" for n in range(1, 5))
OPEN_ALL = calls(
    *[("show_patch", {"attempt": label}) for label in LABELS],
    *[("show_transcript", {"attempt": label, "first_turn": 0, "last_turn": 50}) for label in LABELS],
    *[("show_tests", {"attempt": label}) for label in LABELS],
)
DIG = calls(
    ("run_command", {"command": "git log --all -p; git reflog; git stash list; git fsck --lost-found; git tag"}),
    ("run_command", {"command": "git show next:spans/merge.py; git cat-file --batch-all-objects --batch"}),
    ("search", {"pattern": "ends before it starts", "path": "."}),
    ("search", {"pattern": "test_any_iterable", "path": "/"}),
    ("read_file", {"path": ".git/packed-refs"}),
    ("list_files", {"path": "/"}),
)
COPYING = criterion(
    "merges-by-maximum",
    "The result keeps `merged[-1] = (merged[-1][0], max(merged[-1][1], end))` for spans in spans.",
    anchor=spec_anchor("Spans that overlap, lie inside one another or touch"),
    guidance="Look for it: self.assertEqual(merge([(1, 10), (2, 3), (4, 5)]), [(1, 10)]) has to hold there.",
)


def task_row() -> dict[str, Any]:
    rows = map(json.loads, (SAMPLE / "tasks.jsonl").read_text("utf-8").splitlines())
    return next(row for row in rows if row["instance_id"] == SPANS)


def added(patch: str) -> Iterator[str]:
    return (
        line.text.strip()
        for file in parse_patch(patch).files
        for hunk in file.hunks
        for line in hunk.lines
        if line.kind == "added"
    )


def sealed_lines(store: Store) -> set[str]:
    """Lines of reference, hidden tests, hints and logs that stand in nothing that the author may see."""
    row = task_row()
    logs = [path.read_text("utf-8") for path in (SAMPLE / "runs").rglob(f"{SPANS}/test_output.txt")]
    assert logs
    sealed = {*added(row["patch"]), *added(row["test_patch"]), row["hints_text"]}
    sealed |= {line.strip() for log in logs for line in log.splitlines()}
    base = SAMPLE / "source" / SPANS / "base"
    allowed = [row["problem_statement"], *(path.read_text("utf-8") for path in base.rglob("*.py"))]
    allowed += [item["patch"] or "" for item in store.rows("rollouts", where="task_id = $task", task=SPANS)]
    allowed += [item["turns"] for item in store.rows("transcripts", where="task_id = $task", task=SPANS)]
    ids = " ".join(json.loads(row["FAIL_TO_PASS"]) + json.loads(row["PASS_TO_PASS"]))
    everything = json.dumps("\n".join(allowed))[1:-1] + "\n".join(allowed) + ids
    return {line for line in sealed if len(line) >= 12 and line not in everything}


def shown_to_the_author(server: ModelServer) -> str:
    """Every message of every request as text, and all else that was sent."""
    contents = [str(m.get("content")) for body in server.requests for m in body["messages"]]
    calls_made = [json.dumps(body.get("tools")) for body in server.requests]
    return "\n".join([*contents, *calls_made])


@pytest.fixture(params=["prepared", "with a later branch"])
def task_store(request: pytest.FixtureRequest, store: Store, tmp_path: Path) -> tuple[Store, tuple[str, ...]]:
    """The sample's task, and one whose repository holds the reference on a later branch."""
    if request.param == "prepared":
        return store, (str(SAMPLE),)
    repository = tmp_path / "repository"
    with_reference(repository)
    row = {**task_row(), "repository": str(repository), "base_commit": git(repository, "rev-parse", "HEAD")}
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text(json.dumps(row) + "\n", "utf-8")
    return sample_store(tmp_path / "other", (str(tasks), *DUMPS[1:])), ()


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def with_reference(folder: Path) -> None:
    source = SAMPLE / "source" / SPANS
    subprocess.run(["cp", "-r", str(source / "base"), str(folder)], check=True)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "base")
    git(folder, "checkout", "-qb", "next")
    (folder / "spans" / "merge.py").write_text((source / "solution" / "spans" / "merge.py").read_text())
    git(folder, "commit", "-qam", "merge spans by the farther end")
    git(folder, "checkout", "-q", "main")


def test_no_sealed_line_is_in_anything_that_the_author_is_sent(task_store: tuple[Store, tuple[str, ...]]) -> None:
    store, data = task_store
    lines = sealed_lines(store)
    assert len(lines) > 20
    draft = submission([*SOLUTION, COPYING], BEHAVIOR)
    with author(OPEN_ALL, DIG, submits(draft), submits(draft)) as server:
        synthesized(store, server, data=data)
        assert len(server.requests) == 4
        text = shown_to_the_author(server)
    assert "spans/merge.py" in text
    assert "no_environment" not in {row["kind"] for row in store.rows("census", where="stage = 'synthesize'")}
    assert sorted(line for line in lines if line in text and line not in json.dumps(draft)) == []
    assert "merge spans by the farther end" not in text


def test_a_criterion_that_repeats_sealed_text_is_refused_without_saying_of_what(store: Store) -> None:
    draft = submission([*SOLUTION[:2], COPYING], [])
    with author(submits(draft), submits(draft)) as server:
        store = synthesized(store, server)
        report = server.requests[1]["messages"][-1]["content"]
    assert "it repeats code or text that may not stand in a rubric" in report
    assert "(1, 10)" not in report
    row = next(row for row in store.rows("rubrics") if row["kind"] == "solution")
    assert "too close to what is sealed" in row["note"]
    assert "merges-by-maximum" not in row["content"]
