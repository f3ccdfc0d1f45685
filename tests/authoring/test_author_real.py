"""A public task with its published attempts: the author reads the repository, and what it rests on is found there."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from authoring_helpers import author, calls, criterion, file_anchor, sample_store, spec_anchor, submission, submits
from authoring_helpers import synthesized as run_author

from rubrics.rules.evaluate import RuleEvaluator
from rubrics.stages import rubric_files
from rubrics.store.store import Store

TASKS = {"marshmallow-code__marshmallow-1359": "3.0.0", "marshmallow-code__marshmallow-1343": "2.20.0"}
CACHE = Path(os.environ.get("RUBRICS_TEST_CACHE") or Path(tempfile.gettempdir()) / "rubrics-test-cache")
LOOKS = calls(
    ("search", {"pattern": "SCHEMA_OPTS_VAR_NAME", "path": "src"}),
    ("read_file", {"path": "src/marshmallow/fields.py", "first_line": 1100, "last_line": 1125}),
    ("show_patch", {"attempt": "attempt-1"}),
)
BINDS = "def _bind_to_schema(self, field_name, schema):"
DRAFT = submission(
    [
        criterion(
            "binds-inside-containers",
            "A `DateTime` inside a `List` or a `Tuple` takes its format from the schema that the container stands in.",
            anchor=spec_anchor("3.0: DateTime fields cannot be used as inner field for List or Tuple fields"),
            guidance="Met when the options are looked up on the schema at the root; unmet when on the direct parent.",
        ),
        criterion(
            "binds-where-it-was-bound",
            "The format is still chosen when the field is bound.",
            anchor=file_anchor("src/marshmallow/fields.py:1113", BINDS),
        ),
        criterion(
            "rests-on-nothing",
            "A nested value is copied before it is looked at.",
            anchor=file_anchor("src/marshmallow/fields.py:1113", "def copied(self):"),
        ),
    ],
    [],
)


@pytest.fixture
def published(request: pytest.FixtureRequest, real: Path, tmp_path: Path) -> Store:
    task_id = request.param
    archive = CACHE / "sdists" / f"marshmallow-{TASKS[task_id]}.tar.gz"
    if not archive.is_file() or shutil.which("bwrap") is None:
        pytest.skip("no source distribution in the cache (tests/environments fetches it), or no bubblewrap")
    row = next(row for row in map(json.loads, (real / "specs.jsonl").open()) if row["instance_id"] == task_id)
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text(json.dumps({**row, "repository": str(archive)}) + "\n", "utf-8")
    dumps = (str(tasks), str(real / "mini-swe-agent"), str(real / "outcomes.json"))
    return sample_store(tmp_path / "store", dumps)


@pytest.mark.parametrize("published", list(TASKS)[:1], indirect=True)
def test_rubrics_of_a_public_task_rest_on_its_spec_and_its_repository(published: Store) -> None:
    task_id = next(iter(TASKS))
    with author(LOOKS, submits(DRAFT), submits(DRAFT)) as server:
        store = run_author(published, server, tasks=task_id, data=())
        answers = [message["content"] for message in server.requests[1]["messages"] if message["role"] == "tool"]
        report = server.requests[2]["messages"][-1]["content"]
    assert "src/marshmallow/fields.py:1117:" in answers[0]
    assert f"1113:     {BINDS}" in answers[1]
    assert "its anchor src/marshmallow/fields.py:1113 is no line of a file, or reads otherwise" in report
    assert report.count("\n- ") == 1
    with RuleEvaluator() as evaluator:
        solution = rubric_files.load(store.paths, task_id, evaluator)["solution"]
    assert [item.id for item in solution.criteria] == ["binds-inside-containers", "binds-where-it-was-bound"]
    assert "rests-on-nothing (no anchor that stands)" in solution.note


@pytest.mark.parametrize("published", list(TASKS)[1:], indirect=True)
def test_a_repository_that_holds_lines_of_the_hidden_tests_at_base_is_not_opened(published: Store) -> None:
    with author(submits(submission([], []))) as server:
        store = run_author(published, server, tasks=list(TASKS)[1], data=())
        offered = {tool["function"]["name"] for tool in server.requests[0]["tools"]}
    assert "read_file" not in offered
    said = {row["kind"]: row["detail"] for row in store.rows("census", where="stage = 'synthesize'")}
    assert said["no_environment"].startswith("its author works without one: not_clean: it may tell the answer")
