"""A ranker at work: one workspace, every attempt's own environment, and a ranking that points at what was run."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "environments"))
from environment_helpers import RECIPE, small_task, started_or_skipped
from model_server.server import Said
from ranking_store import (
    answer,
    census,
    group,
    honest,
    levels,
    make_store,
    prompt,
    rank,
    ranked,
    rewarded,
    shown_labels,
    submitted,
)

from rubrics.environments.session import Environment
from rubrics.errors import InfraError


@pytest.fixture(scope="module", params=["docker", "bubblewrap"])
def environment(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    found = started_or_skipped(request.param)
    folder = tmp_path_factory.mktemp("base")
    (folder / "README").write_text("base\n")
    try:
        found.open(small_task(folder), None).close()
    except InfraError as error:
        found.close()
        pytest.skip(f"no base root file system: {error}")
    yield found
    found.close()


@pytest.fixture
def task(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "level.py").write_text("level = 0\n")
    return {"repository": str(folder), "recipe": json.dumps(RECIPE)}


def tool_answers(body: dict[str, Any]) -> list[str]:
    return [item["content"] for item in body["messages"] if item["role"] == "tool"]


def careful(body: dict[str, Any]) -> Any:
    """Looks at the workspace, runs every attempt, then marks what the runs printed."""
    order, said = shown_labels(body), tool_answers(body)
    if not said:
        return Said(None, (("run_command", {"command": "cat level.py; ls /tmp/attempts"}),))
    if len(said) <= len(order):
        label = order[len(said) - 1]
        return Said(None, (("run_in_attempt", {"attempt": label, "command": "cat level.py"}),))
    printed = {label: int(text.split("level = ")[1][0]) for label, text in zip(order, said[1:], strict=True)}
    reply = answer(printed)
    for number, label in enumerate(order, 1):
        evidence = [{"place": f"run:{number}", "quote": f"level = {printed[label]}"}]
        reply["candidates"][label]["evidence"] = evidence
    return submitted(reply)


def test_every_attempt_is_run_in_its_own_environment_and_the_ranking_rests_on_it(
    tmp_path: Path, environment: Environment, task: dict[str, str]
) -> None:
    store = make_store(tmp_path / "s", group([5, 2, 4, 3], 6), **task)
    with ranked(store, careful, environment, rounds=2) as server:
        last = max(server.requests, key=lambda body: len(body["messages"]))
    found = store.query(
        "SELECT run, approach, judge, rung, evidence, detail FROM rankings JOIN rollouts USING (rollout_id)"
    ).to_pylist()
    assert {row["detail"] for row in found} == {None}
    assert {row["run"]: row["approach"] for row in found} == {"pass-0": 5, "pass-1": 2, "pass-2": 4, "pass-3": 3}
    assert {(row["judge"], row["rung"]) for row in found} == {("agent:scripted", "repository")}
    assert all(json.loads(row["evidence"])["checks"][0]["place"].startswith("run:") for row in found)
    assert "level = 0" in tool_answers(last)[0]
    assert all(f"{label}.diff" in tool_answers(last)[0] for label in levels(last))
    assert [rewarded(store)[f"pass-{n}"]["rank"] for n in range(4)] == [1, 4, 2, 3]


def test_finished_rounds_are_remembered_and_only_failed_ones_are_worked_again(
    tmp_path: Path, environment: Environment, task: dict[str, str]
) -> None:
    store = make_store(tmp_path / "s", group([5, 2], 4), **task)
    first: list[str] = []

    def flaky(body: dict[str, Any]) -> Any:
        first.append(prompt(body))
        return submitted({"no": "ranking"}) if prompt(body) == first[0] else submitted(honest(body))

    with ranked(store, flaky, environment) as server:
        assert census(store)["round_usable"] == 2
        before = store.rows("rankings", where="usable")
        server.script, asked = lambda body: submitted(honest(body)), len(server.requests)
        rank(store, server, environment)
        assert {prompt(body) for body in server.requests[asked:]} == {first[0]}
    assert census(store)["round_usable"] == 3
    again = {(row["rollout_id"], row["round"]): row for row in store.rows("rankings")}
    assert all(again[row["rollout_id"], row["round"]] == row for row in before)


def test_a_ranking_that_is_refused_may_be_mended_within_the_conversation(
    tmp_path: Path, environment: Environment, task: dict[str, str]
) -> None:
    store = make_store(tmp_path / "s", group([5, 2], 4), **task)

    def script(body: dict[str, Any]) -> Any:
        if not tool_answers(body):
            return submitted(answer(dict.fromkeys(shown_labels(body)[1:], 4)))
        assert "missing_candidate" in tool_answers(body)[0]
        return submitted(honest(body))

    with ranked(store, script, environment, rounds=1):
        pass
    assert census(store)["round_usable"] == 1


def test_an_attempt_that_cannot_be_rebuilt_is_said_to_be_so_and_others_go_on(
    tmp_path: Path, environment: Environment, task: dict[str, str]
) -> None:
    attempts = group([5, 2], 4)
    attempts[1]["patch"] = attempts[1]["patch"].replace("-level = 0", "-something else")
    store = make_store(tmp_path / "s", attempts, **task)

    def script(body: dict[str, Any]) -> Any:
        said, found = tool_answers(body), levels(body)
        if said:
            assert "cannot be rebuilt" in said[0]
            return submitted(honest(body))
        broken = next(label for label in shown_labels(body) if found[label] == 2)
        return Said(None, (("run_in_attempt", {"attempt": broken, "command": "true"}),))

    with ranked(store, script, environment, rounds=1):
        pass
    assert census(store)["round_usable"] == 1


def test_a_conversation_that_comes_to_nothing_leaves_plain_advantages(
    tmp_path: Path, environment: Environment, task: dict[str, str]
) -> None:
    store = make_store(tmp_path / "s", group([5, 2], 4), **task)
    with ranked(store, lambda body: "I think they are all fine.", environment):
        pass
    assert {row["failure_class"] for row in store.rows("rankings")} == {"no_call"}
    assert {row["ranking"] for row in rewarded(store).values()} == {"unusable"}


def test_a_workspace_that_cannot_be_opened_is_a_failure_class_and_nothing_is_asked(
    tmp_path: Path, environment: Environment
) -> None:
    store = make_store(tmp_path / "s", group([5, 2], 4), repository=str(tmp_path / "absent"), recipe=json.dumps(RECIPE))
    with ranked(store, honest, environment) as server:
        assert server.requests == []
    (failure,) = {row["failure_class"] for row in store.rows("rankings")}
    assert failure is not None
    assert all(not row["usable"] for row in store.rows("rankings"))


def test_a_task_that_names_nothing_to_open_is_ranked_from_the_prompt_alone(
    tmp_path: Path, environment: Environment
) -> None:
    store = make_store(tmp_path / "s", group([5, 2], 4))
    with ranked(store, honest, environment):
        pass
    assert {row["judge"] for row in store.rows("rankings")} == {"single:scripted"}
