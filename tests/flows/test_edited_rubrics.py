"""A person edits a rubric file; last week's rubrics score today's rollouts."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from conftest import Command, rewards, rows

TASK = "marshmallow-code__marshmallow-1359"
EARLIER = ("deepseek_bench_dev", "deepseek_lite_dev", "deepseek_lite_dev_noparallel")
TODAY = ("deepseek_chat_dev_rerun", "deepseek_reasoner_dev")


def edit(path: Path, change) -> None:
    before = path.read_text("utf-8")
    after = change(before)
    assert after != before
    path.write_text(after, "utf-8")


def edited(text: str) -> str:
    """Another weight, another rule, one criterion less."""
    head, *criteria = re.split(r"(?m)^(?=  - id: )", text)
    criteria = [item for item in criteria if "switches-off-no-check" not in item]
    criteria = [re.sub(r"(?m)^    weight: .*$", "    weight: 7", item) if "keeps-tests" in item else item
                for item in criteria]  # fmt: skip
    return (head + "".join(criteria)).replace("1.0 / (1 + debug_prints_left)", "debug_prints_left <= 1")


def test_an_edited_rubric_counts_under_a_digest_of_its_own_and_touches_no_other_task(
    rubrics: Command, scored: Path, copied: Path
) -> None:
    path = copied / "rubrics" / f"{TASK}.solution.yaml"
    edit(path, edited)
    text = path.read_text()
    rubrics("score", cwd=copied.parent, code=0)
    rubrics("reward", cwd=copied.parent, code=1)
    (new,) = rows(copied, f"SELECT * FROM rubrics WHERE task_id = '{TASK}' AND kind = 'solution'")
    (old,) = rows(scored, f"SELECT * FROM rubrics WHERE task_id = '{TASK}' AND kind = 'solution'")
    assert (new["author"], old["author"]) == ("edited", "builtin")
    assert new["n_criteria"] == old["n_criteria"] - 1
    own = [row for row in rewards(copied) if row["task_id"] == TASK]
    assert {row["solution_rubric"] for row in own} == {new["rubric_digest"]} != {old["rubric_digest"]}
    assert {row["behavior_rubric"] for row in own} == {
        row["behavior_rubric"] for row in rewards(scored) if row["task_id"] == TASK
    }
    assert [row for row in rewards(copied) if row["task_id"] != TASK] == [
        row for row in rewards(scored) if row["task_id"] != TASK
    ]
    assert rows(copied, f"FROM grades WHERE rubric_digest = '{old['rubric_digest']}'") == []
    assert path.read_text() == text, "what a person wrote stays as it is"


def test_synthesizing_again_keeps_the_edited_file_aside(rubrics: Command, copied: Path) -> None:
    path = copied / "rubrics" / f"{TASK}.solution.yaml"
    before = path.read_text()
    edit(path, edited)
    mine = path.read_text()
    rubrics("synthesize", "--tasks", TASK, cwd=copied.parent, code=0)
    assert path.read_text() == before
    assert [item.read_text() for item in path.parent.glob("*.old")] == [mine]


@pytest.mark.parametrize(
    ("found", "written", "said"),
    [
        ("weight: 2", "weight: -2", "weight is -2"),
        ("debug_prints_left", "debug_prints", "'debug_prints' is not in the vocabulary"),
        ("\n    rule: ", "\n    rules: ", "unknown field 'rules'"),
        ("criteria:", "criteria: [", "not YAML"),
    ],
)
def test_a_broken_edit_is_refused_with_its_line_and_changes_nothing(
    rubrics: Command, copied: Path, found: str, written: str, said: str
) -> None:
    path = copied / "rubrics" / f"{TASK}.solution.yaml"
    edit(path, lambda text: text.replace(found, written, 1))
    manifest = (copied / "manifest.json").read_bytes()
    ran = rubrics("score", cwd=copied.parent, code=2)
    assert said in ran.err
    assert re.search(rf"{re.escape(path.name)}:\d+: ", ran.err), ran.err
    assert "Traceback" not in ran.err
    assert (copied / "manifest.json").read_bytes() == manifest


def test_last_weeks_rubrics_score_todays_rollouts(rubrics: Command, real: Path, tmp_path: Path) -> None:
    store = tmp_path / "last-week"
    runs = real / "mini-swe-agent"
    common = (real / "specs.jsonl", real / "outcomes.json", "--store", store)
    rubrics("run", *(runs / run for run in EARLIER), *common, cwd=tmp_path)
    files = {path.name: path.read_bytes() for path in (store / "rubrics").iterdir()}
    written = rows(store, "SELECT rubric_digest, studied FROM rubrics ORDER BY rubric_digest")
    studied = {rollout for row in written for rollout in row["studied"]}
    today = tmp_path / "today"
    for run in TODAY:
        shutil.copytree(runs / run, today / run)
    rubrics("run", today, *common, cwd=tmp_path, code=1)
    assert {path.name: path.read_bytes() for path in (store / "rubrics").iterdir()} == files
    assert rows(store, "SELECT rubric_digest, studied FROM rubrics ORDER BY rubric_digest") == written
    new = [row for row in rewards(store) if row["run"] in TODAY]
    scored = [row for row in new if row["status"] == "ok"]
    assert {row["run"] for row in rewards(store)} == {*EARLIER, *TODAY}, "last week's rollouts stay"
    assert {row["run"] for row in new} == set(TODAY)
    assert len(scored) == 6
    assert not any(row["studied"] for row in new)
    assert all(row["solution"] is not None and row["behavior"] is not None for row in scored)
    assert not {row["rollout_id"] for row in new} & studied
    contrasted = (
        "SELECT count(*) AS n FROM contrasts JOIN rewards USING (rollout_id) "
        f"WHERE files_like_passing IS NOT NULL AND rewards.run IN {tuple(TODAY)}"
    )
    assert rows(store, contrasted)[0]["n"] >= 6, "today's are compared with last week's studied attempts"


def test_attempts_of_another_dump_are_studied_and_not_scored(rubrics: Command, real: Path, tmp_path: Path) -> None:
    runs = real / "mini-swe-agent"
    words = [word for run in EARLIER for word in ("--study-from", runs / run)]
    dumps = [real / "specs.jsonl", *(runs / run for run in TODAY), real / "outcomes.json"]
    rubrics("run", *dumps, *words, "--study-from", real / "outcomes.json", cwd=tmp_path, code=1)
    store = tmp_path / "rubrics-store"
    assert {row["run"] for row in rewards(store)} == set(TODAY)
    assert not any(row["studied"] for row in rewards(store))
    assert {len(row["studied"]) for row in rows(store, "FROM rubrics")} == {3}
    assert len([row for row in rewards(store) if row["reward"] is not None]) == 6
