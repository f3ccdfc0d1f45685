"""The commands about asking a model, as a person types them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from judging.judged_store import with_judge_criteria
from model_server.server import Raw, Said, serving
from model_server.sound import sound_verdicts

from rubrics.stages.options import Options
from rubrics.stages.prompts import case_of
from rubrics.store.store import Store

KEY = "sk-canary-0123456789abcdef"
Run = Callable[..., str]


@pytest.fixture
def store(sample_store: Store, tmp_path: Path) -> Store:
    return with_judge_criteria(sample_store, tmp_path / "store")


@pytest.fixture
def run(rubrics: Command, tmp_path: Path) -> Run:
    """The command, with a key in the environment that nothing may repeat: what it prints."""

    def command(*words: str, code: int = 0) -> str:
        done = rubrics(*words, cwd=tmp_path, code=code, MY_KEY=KEY)
        assert KEY not in done.out + done.err
        return done.out

    return command


def test_the_prompt_that_is_shown_is_the_one_that_is_sent(store: Store, run: Run) -> None:
    place = ("sample__textkit-17/beta-3", "--store", str(store.paths.root))
    shown = json.loads(run("show-prompt", *place, "--json"))
    with serving(sound_verdicts) as server:
        asked = ("--model", "m", "--base-url", server.url, "--api-key-env", "MY_KEY", "--tasks", "sample__textkit-17")
        run("score", "--store", str(store.paths.root), *asked)
        assert shown[0]["messages"] in [body["messages"] for body in server.requests]
        assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    held = b"".join(file.read_bytes() for file in store.paths.root.rglob("*") if file.is_file())
    assert KEY.encode() not in held


def test_a_broken_rubric_of_another_task_kept_a_prompt_from_being_shown_for_all_tasks_were_read(
    store: Store, run: Run
) -> None:
    (store.paths.root / "rubrics" / "sample__spans-8.solution.yaml").write_text("no rubric", "utf-8")
    options = Options(str(store.paths.root))
    (row,) = store.rows("rollouts", ["rollout_id"], "task_id = 'sample__textkit-17' AND run = 'beta-3'")
    assert case_of(store, row["rollout_id"], options).task.task_id == "sample__textkit-17"


def test_an_estimate_asks_nobody_and_an_unknown_price_is_no_dollars(store: Store, run: Run) -> None:
    with serving(sound_verdicts) as server:
        asked = ("estimate", "--store", str(store.paths.root), "--model", "m", "--base-url", server.url, "--json")
        rows: list[dict[str, Any]] = json.loads(run(*asked))
        assert [row["case"] for row in rows] == ["low", "expected", "high"]
        assert {row["dollars"] for row in rows} == {None}
        priced = json.loads(run(*asked, "--price", "1,2,0.1"))
        assert 0 < priced[0]["dollars"] < priced[1]["dollars"] < priced[2]["dollars"]
        assert server.requests == []


def test_a_score_without_verdicts_ends_with_code_1_and_names_the_class(store: Store, run: Run) -> None:
    with serving(lambda body: Raw(401, b'{"error": {"message": "no"}}')) as server:
        asked = ("--model", "m", "--base-url", server.url, "--json")
        said = json.loads(run("score", "--store", str(store.paths.root), *asked, code=1))
    assert [
        (row["kind"], row["n"]) for row in said["census"] if row["subject"] == "task" and row["stage"] == "score"
    ] == [("authentication", 32)]


def test_the_doctor_tells_a_model_that_answers_from_one_that_does_not(run: Run) -> None:
    with serving(lambda body: {"answer": 5}) as server:
        asked = ("doctor", "--model", "m", "--base-url", server.url, "--json")
        rows = {row["what"]: row for row in json.loads(run(*asked))}
        assert rows["model m"]["state"] == "ok"
        assert rows["price"]["state"] == "absent"
        server.script = lambda body: "five, I think"
        rows = {row["what"]: row for row in json.loads(run(*asked, code=1))}
        assert rows["model m"]["state"] == "broken"
        assert "not_json" in rows["model m"]["detail"] or "JSON" in rows["model m"]["detail"]


def test_a_budget_is_refused_where_no_price_is_known_and_ends_the_asking_where_one_is(store: Store, run: Run) -> None:
    with serving(sound_verdicts) as server:
        asked = (
            "score",
            "--store",
            str(store.paths.root),
            "--model",
            "m",
            "--base-url",
            server.url,
            "--max-cost",
            "0.01",
        )
        run(*asked, code=2)
        assert server.requests == []
        run(*asked, "--price", "1,2", code=1)
        assert 0 < len(server.requests) < 32
    spent = store.query("SELECT sum(cost) AS dollars, count(*) FILTER (failure_class = 'budget') AS n FROM judgements")
    row = spent.to_pylist()[0]
    assert row["dollars"] <= 0.01
    assert row["n"] > 0
    told = json.loads(run("status", "--store", str(store.paths.root), "--models", "--json"))
    assert [(item["purpose"], item["model"], item["price_not_known"]) for item in told] == [("judge", "m", 0)]
    assert told[0]["dollars"] == pytest.approx(row["dollars"])


@pytest.mark.skipif(not shutil.which("bwrap"), reason="no bubblewrap for the agent's environment")
def test_an_agents_first_request_is_shown_with_its_tools(store: Store, run: Run) -> None:
    place = ("sample__textkit-17/beta-3", "--store", str(store.paths.root))
    shown = json.loads(run("show-prompt", *place, "--judge", "agent", "--json"))
    assert "submit_verdicts" in shown[0]["tools"]


def test_a_key_that_is_given_where_it_would_be_stored_is_refused_and_not_repeated(store: Store, run: Run) -> None:
    asked = ("score", "--store", str(store.paths.root), "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    run(*asked, "--extra", f'api_key="{KEY}"', code=2)
    run(*asked, "--api-key-env", KEY.replace("-", "_"), code=2)


def test_further_fields_and_names_of_the_model_are_passed_on_and_a_field_that_is_no_json_is_refused(
    store: Store, run: Run
) -> None:
    def script(body: dict[str, Any]) -> Any:
        return Said(json.dumps(sound_verdicts(body)), model="deployment-7")

    with serving(script) as server:
        asked = ("score", "--store", str(store.paths.root), "--model", "m", "--base-url", server.url)
        run(*asked, "--extra", "max_completion_tokens=many", code=2)
        run(*asked, code=1)
        more = ("--extra", "max_completion_tokens=4000", "--extra", 'user="us"', "--top-p", "0.9")
        run(*asked, *more, "--answers-as", "deployment-7")
        sent = server.requests[-1]
    assert (sent["max_completion_tokens"], sent["user"], sent["top_p"]) == (4000, "us", 0.9)
    assert store.query("SELECT DISTINCT judge_model FROM judgements").to_pylist() == [{"judge_model": "deployment-7"}]
