"""Why this reward: the numbers are those of the reward table, and what is missing says why."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from report_store import Attempt, make_store

from rubrics.errors import StoreError, UsageError
from rubrics.records.rubrics import Criterion
from rubrics.report.explain import explain
from rubrics.report.explanation import explanation
from rubrics.report.numbers import number
from rubrics.report.read import read
from rubrics.report.text import as_text
from rubrics.report.write import write_report
from rubrics.rules.score import rubric_score
from rubrics.store.store import Store

TASK = "owner__repo-1"
SIZE = Criterion("small", "The change is small.", 2, "rule", "1.0 / (1 + lines_added)", evidence=("lines_added",))
FILES = Criterion("files", "Few files.", 1, "rule", "1.0", evidence=("files_edited", "test_lines_removed"))
RUBRICS = {(TASK, "solution"): (SIZE, FILES)}
GRS = {"factors": ("solution",)}
TEST_PATCH = "--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -7,2 +7,1 @@\n-assert a\n kept\n"


def lines(explained: dict[str, Any]) -> str:
    return "\n".join(explained["arithmetic"])


def passed(run: str, *values: float | None, **more: Any) -> Attempt:
    return Attempt(TASK, run, "passed", {"solution": values}, **more)


def test_every_number_of_the_sample_equals_its_reward_row(sample_store: Store) -> None:
    rows = {row["rollout_id"]: row for row in sample_store.rows("rewards")}
    material = read(sample_store, list(rows))
    assert len(material.rollouts) == len(rows) > 0
    for found in material.rollouts:
        explained, row = explanation(material, found), rows[found["rollout_id"]]
        assert explained["reward"] == {name: row[name] for name in explained["reward"]}
        for score in explained["scores"]:
            criteria = score["criteria"]
            assert score["score"] == row[score["kind"]]
            again = rubric_score(*zip(*((c["value"], c["weight"], c["gate"]) for c in criteria), strict=True))
            assert again == pytest.approx(row[score["kind"]], abs=1e-9)
        for name in ("solution", "behavior", "reward", "advantage"):
            if row[name] is not None:
                assert re.search(rf"^{name} = .*{re.escape(number(row[name]))}\b", lines(explained), re.MULTILINE), name


def test_one_rollout_is_explained_as_it_is_among_all(sample_store: Store) -> None:
    rows = sample_store.rows("rollouts", ["rollout_id", "task_id"])
    material = read(sample_store, [row["rollout_id"] for row in rows])
    among_all = explanation(material, material.rollouts[5])
    alone = explain(sample_store, among_all["rollout_id"])
    assert alone["arithmetic"] == among_all["arithmetic"]
    assert alone["outcome"] == among_all["outcome"]


def test_a_product_is_written_out_from_weights_to_advantage(tmp_path: Path) -> None:
    attempts = [passed("a", 0.5, 1.0), passed("b", 1.0, 1.0)]
    explained = explain(make_store(tmp_path / "s", attempts, RUBRICS, **GRS), f"{TASK}/a")
    assert explained["arithmetic"] == [
        "solution = (1 x 1 + 2 x 0.5) / 3 = 0.666667",
        "behavior = none: the task has no behavior rubric",
        "reward = test x solution = 1 x 0.666667 = 0.666667",
        explained["arithmetic"][3],
        "advantage = reward - group mean = 0.666667 - 0.833333 = -0.166667",
    ]
    assert explained["arithmetic"][3].endswith("/ 2 = 0.833333 over 2 valid of 2 rollouts")


def test_evidence_names_the_measured_values_and_shortens_long_lists(tmp_path: Path) -> None:
    paths = [f"src/{number:02d}.py" for number in range(40)]
    facts = {"lines_added": 3, "files_edited": paths, "test_lines_removed": 1}
    attempt = passed("a", 0.5, 1.0, facts=facts, patch=TEST_PATCH)
    store = make_store(tmp_path / "s", [attempt, passed("b", 1, 1)], RUBRICS, **GRS)
    files, size = explain(store, attempt.rollout_id)["scores"][0]["criteria"]
    assert [(item["name"], item["value"], item["shown"]) for item in size["evidence"]] == [("lines_added", 3, "3")]
    assert files["evidence"][0]["shown"] == ", ".join(paths[:5]) + ", ... (40 in all)"
    assert files["places"] == ["patch:tests/test_a.py:7"]


def test_a_masked_row_says_which_status_masks_it_and_why(tmp_path: Path) -> None:
    attempts = [
        Attempt(TASK, "broke", "passed", {"solution": (1, 1)}, exit=("infra", "APITimeoutError")),
        Attempt(TASK, "untold", None, {"solution": (1, 1)}),
        passed("unknown-rule", None, 1.0),
        passed("fine", 1.0, 1.0),
    ]
    store = make_store(tmp_path / "s", attempts, RUBRICS, **GRS)
    assert "status infra masks this row" in lines(explain(store, f"{TASK}/broke"))
    assert "APITimeoutError" in lines(explain(store, f"{TASK}/broke"))
    assert "overruled: file:0123456789ab (passed)" in explain(store, f"{TASK}/broke")["outcome"]["why"]
    assert "status unknown masks this row: nobody says" in lines(explain(store, f"{TASK}/untold"))
    ungraded = lines(explain(store, f"{TASK}/unknown-rule"))
    assert "solution = none: 1 of 2 criteria have no value: small (null_rule)" in ungraded
    assert "status ungraded masks this row" in ungraded
    assert "the group is dropped (too_few_valid)" in ungraded


def test_a_failure_is_zero_whatever_its_scores(tmp_path: Path) -> None:
    attempts = [Attempt(TASK, "a", "failed", {"solution": (None, 1)}), *(passed(run, 1, 1) for run in "bcdef")]
    store = make_store(tmp_path / "s", attempts, RUBRICS, **GRS)
    assert "reward = 0: the tests did not pass" in lines(explain(store, f"{TASK}/a"))


def test_equal_rewards_are_said_to_drop_the_group(tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", [passed("a", 1, 1), passed("b", 1, 1)], RUBRICS, **GRS)
    assert "advantage = none: the group is dropped (equal_rewards)" in lines(explain(store, f"{TASK}/a"))


def test_a_failed_gate_makes_the_score_zero_and_is_named(tmp_path: Path) -> None:
    gate = Criterion("gate", "Must hold.", 1, "rule", "1.0", gate=True)
    rubrics = {(TASK, "solution"): (gate, SIZE)}
    store = make_store(tmp_path / "s", [passed("a", 0.5, 1), passed("b", 1, 1)], rubrics, **GRS)
    assert "solution = 0: gate gate has 0.5" in lines(explain(store, f"{TASK}/a"))


def test_a_repeat_that_was_left_out_says_so(tmp_path: Path) -> None:
    first = passed("a", 1, 1)
    attempts = [first, passed("b", 0.5, 1), passed("c", 1, 1, duplicate_of=first.rollout_id)]
    store = make_store(tmp_path / "s", attempts, RUBRICS, drop_duplicates=True, **GRS)
    explained = explain(store, f"{TASK}/c")
    assert explained["reward"] is None
    assert f"left out as a repeat of {first.rollout_id}" in lines(explained)
    assert "reward  none" in as_text(explained)


def test_rewards_older_than_the_verdicts_are_refused(tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", [passed("a", 0.5, 1), passed("b", 1, 1)], RUBRICS, **GRS)
    with store.writing() as run:
        run.append("grades", [{**row, "value": 0.25} for row in store.rows("grades")])
    with pytest.raises(StoreError, match=r"reward table holds solution .* run `rubrics reward`"):
        explain(store, f"{TASK}/a")
    with pytest.raises(StoreError, match="run `rubrics reward`"):
        write_report(store)


def test_a_unique_beginning_of_four_digits_is_enough(sample_store: Store) -> None:
    wanted = sample_store.rows("rollouts", ["rollout_id", "task_id"])[0]["rollout_id"]
    assert explain(sample_store, wanted[:12].upper())["rollout_id"] == wanted


def test_an_unknown_rollout_is_refused_with_names_that_come_near(sample_store: Store) -> None:
    with pytest.raises(UsageError, match=r"no rollout 'sample__spans-8/alfa-1'[\s\S]*sample__spans-8/alpha-1"):
        explain(sample_store, "sample__spans-8/alfa-1")
    with pytest.raises(UsageError, match="4 or more of its first digits"):
        explain(sample_store, "abc")


def test_an_ambiguous_name_lists_its_candidates(tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", [passed("a", 1, 1), passed("b", 1, 1)], RUBRICS, **GRS)
    with store.writing() as run:
        rows = store.rows("rollouts")
        run.append("rollouts", [{**row, "rollout_id": f"{place:032d}", "run": "a"} for place, row in enumerate(rows)])
    with pytest.raises(UsageError, match=r"names 2 rollouts[\s\S]*0{32}[\s\S]*0{31}1"):
        explain(store, "0000")
    with pytest.raises(UsageError, match="names 2 rollouts"):
        explain(store, f"{TASK}/a")


def test_text_for_a_terminal_holds_no_control_or_bidi_characters(tmp_path: Path) -> None:
    hostile = "\x1b[2J\u202eevil\u2066\x07\r"
    attempt = passed(
        "a" + hostile, 1, 1, policy=hostile, patch=f"--- a/{hostile}\n+++ b/{hostile}\n@@ -1 +1 @@\n-a\n+b\n"
    )
    criterion = Criterion("small", hostile, 1, "rule", "1.0", anchor=hostile, fault=hostile)
    rubrics = {(TASK, "solution"): (criterion, FILES)}
    text = as_text(
        explain(make_store(tmp_path / "s", [attempt, passed("b", 0, 1)], rubrics, **GRS), attempt.rollout_id)
    )
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert "\\x1b[2J\\u202eevil\\u2066\\x07" in text
