"""From a group with mixed outcomes to rows of `rankings`, by a model over real HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ranking_store import (
    TASK,
    answer,
    census,
    first_is_better,
    group,
    honest,
    id_of,
    levels,
    make_store,
    patch,
    prompt,
    rank,
    ranked,
    rewarded,
    rollout,
    shown_labels,
)

from rubrics.errors import UsageError
from rubrics.prompting.fences import outside_fences
from rubrics.stages.environments import Opener
from rubrics.stages.options import Options
from rubrics.stages.rank import Rank
from rubrics.store.store import Store


def rows(store: Store, where: str = "true") -> list[dict[str, Any]]:
    query = f"SELECT rankings.*, run FROM rankings JOIN rollouts USING (rollout_id) WHERE {where} ORDER BY round, run"
    return store.query(query).to_pylist()


def test_an_honest_judge_orders_by_the_planted_quality(tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", group([5, 2, 4, 3]))
    with ranked(store, honest) as server:
        assert len(server.requests) == 3
    found = rows(store)
    assert len(found) == 12
    assert {row["run"]: row["approach"] for row in found} == {"pass-0": 5, "pass-1": 2, "pass-2": 4, "pass-3": 3}
    assert {(row["usable"], row["judge"], row["judge_model"]) for row in found} == {
        (True, "single:scripted", "scripted")
    }
    assert all(row["prompt_digest"] and row["position"] is not None for row in found)
    rewards = rewarded(store)
    assert [rewards[f"pass-{place}"]["rank"] for place in range(4)] == [1, 4, 2, 3]
    assert {row["ranking"] for row in rewards.values()} == {"used"}


def test_advantage_moves_to_the_better_passes_and_its_sum_is_kept(tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", group([5, 2, 4, 3]))
    plain = {name: row["advantage"] for name, row in rewarded(store).items()}
    with ranked(store, honest):
        pass
    moved = {name: row["advantage"] for name, row in rewarded(store).items()}
    assert sum(moved.values()) == pytest.approx(0, abs=1e-12)
    assert moved["pass-0"] > plain["pass-0"] > moved["pass-1"]
    assert sum(value for value in moved.values() if value > 0) == pytest.approx(
        sum(value for value in plain.values() if value > 0)
    )


def test_every_round_has_its_own_order_and_labels_and_nothing_tells_who_is_who(tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", group([5, 2, 4, 3]))
    with ranked(store, honest, rounds=4) as server:
        bodies = server.requests
    assert len({label for body in bodies for label in shown_labels(body)}) == 16
    firsts = [row["run"] for row in rows(store, "position = 0")]
    assert sorted(firsts) == ["pass-0", "pass-1", "pass-2", "pass-3"]
    for body in bodies:
        said = json.dumps(body)
        for secret in ("secret-policy", "group-7", *(id_of(f"pass-{n}") for n in range(4))):
            assert secret not in said
        assert "pass-" not in outside_fences(prompt(body))


def test_nothing_sealed_reaches_a_prompt(tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", group([5, 3]))
    sealed = {"task_id": TASK, "test_patch": "CANARY tests", "reference_patch": "CANARY answer", "hints": "CANARY hint"}
    with store.writing() as run:
        run.append("sealed", [sealed])
    with ranked(store, honest) as server:
        assert server.requests
        assert "CANARY" not in json.dumps(server.requests)


def test_failures_are_shown_as_failed_and_get_no_marks(tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", group([5, 3], failures=2))
    with ranked(store, honest) as server:
        text = prompt(server.requests[0])
    assert text.count("\nFailed attempt ") == 2
    assert "2 failed attempts, for context" in text
    assert {row["run"] for row in rows(store)} == {"pass-0", "pass-1"}
    assert "failed test_b" in text


def test_the_bias_of_a_judge_who_favours_the_first_is_measured_at_its_size(tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", group([4, 2, 3, 1]))
    with ranked(store, first_is_better, rounds=4):
        pass
    (first, *others) = store.query("FROM position_bias").to_pylist()
    assert first["points"] == pytest.approx(20)
    assert all(item["points"] == pytest.approx(-20 / 3) for item in others)
    assert census(store)["position_bias"] == 4
    detail = store.query("SELECT detail FROM census WHERE kind = 'position_bias'").to_pylist()[0]["detail"]
    assert "+20.00 points of W" in detail


def test_a_whole_square_takes_the_bias_out_that_one_order_puts_in(tmp_path: Path) -> None:
    places = {}
    for rounds in (1, 4):
        attempts = [rollout(f"pass-{n}", patch(3, f"n{n}")) for n in range(4)] + group([], 4)
        store = make_store(tmp_path / f"s{rounds}", attempts)
        with ranked(store, first_is_better, rounds=rounds):
            pass
        places[rounds] = sorted(row["rank"] for name, row in rewarded(store).items() if name.startswith("pass"))
    assert places == {1: [1, 2, 2, 2], 4: [1, 1, 1, 1]}


def test_equal_quality_is_tied_and_no_clear_difference_is_stored(tmp_path: Path) -> None:
    attempts = [rollout(f"pass-{n}", patch(4, f"n{n}")) for n in range(3)] + group([], 4)
    store = make_store(tmp_path / "s", attempts)
    with ranked(store, lambda body: answer(dict.fromkeys(shown_labels(body), 4), same=True)):
        pass
    assert all(row["no_difference"] and row["usable"] for row in rows(store))
    rewards = rewarded(store)
    assert {rewards[f"pass-{n}"]["rank"] for n in range(3)} == {1}
    assert {rewards[f"pass-{n}"]["quality_factor"] for n in range(3)} == {1.0}


def test_no_clear_difference_beside_different_marks_is_no_answer(tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", group([5, 3]))
    with ranked(store, lambda body: {**honest(body), "no_clear_difference": True}) as server:
        assert len(server.requests) == 6
    assert {row["failure_class"] for row in rows(store)} == {"contradiction"}


NONSENSE = {
    "prose": lambda body: "They are all fine.",
    "fewer labels": lambda body: answer(dict.fromkeys(shown_labels(body)[1:], 4)),
    "another label": lambda body: answer({**dict.fromkeys(shown_labels(body), 4), "tavokk": 4}),
    "failures ranked": lambda body: answer(dict.fromkeys(levels(body), 4)),
    "off the range": lambda body: answer({label: [6, 4, 4, 4, 4] for label in shown_labels(body)}),
    "a quote that is not there": lambda body: json.dumps(honest(body)).replace("level =", "no such words"),
    "a low check without evidence": lambda body: json.dumps(
        answer(dict.fromkeys(shown_labels(body), 2))
    ).replace("level.py:1", "level.py:99"),
}  # fmt: skip


@pytest.mark.parametrize("name", NONSENSE)
def test_an_answer_that_cannot_be_used_leaves_plain_advantages_and_is_counted(tmp_path: Path, name: str) -> None:
    store = make_store(tmp_path / "s", group([5, 2, 4]))
    plain = {name: row["advantage"] for name, row in rewarded(store).items()}
    with ranked(store, NONSENSE[name]):
        pass
    found = rows(store)
    assert {row["usable"] for row in found} == {False}
    assert all(row["approach"] is None and row["failure_class"] for row in found)
    assert len(found) == 9
    rewards = rewarded(store)
    assert {row["ranking"] for row in rewards.values()} == {"unusable"}
    assert {name: row["advantage"] for name, row in rewards.items()} == plain
    assert census(store, "reward")["group_ranking_unusable"] == 1
    assert sum(count for kind, count in census(store).items() if kind.startswith("round_")) == 3


@pytest.mark.parametrize(("broken", "state"), [(2, "used"), (3, "unusable")])
def test_a_ranking_needs_half_of_its_rounds(tmp_path: Path, broken: int, state: str) -> None:
    store = make_store(tmp_path / "s", group([5, 2, 4]))
    bad: set[str] = set()

    def script(body: dict[str, Any]) -> Any:
        key = prompt(body)
        if key in bad or len(bad) < broken:
            bad.add(key)
            return "nothing of use"
        return honest(body)

    with ranked(store, script, rounds=4):
        pass
    assert census(store) == {
        "group_ranked": 1, "round_not_json": broken, "round_usable": 4 - broken, **positions(store),
    }  # fmt: skip
    assert {row["ranking"] for row in rewarded(store).values()} == {state}


def positions(store: Store) -> dict[str, int]:
    return {kind: count for kind, count in census(store).items() if kind == "position_bias"}


def test_a_rerun_repeats_failed_rounds_only(tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", group([5, 2, 4]))
    seen: list[str] = []

    def flaky(body: dict[str, Any]) -> Any:
        seen.append(prompt(body))
        return "no" if prompt(body) == seen[0] else honest(body)

    with ranked(store, flaky) as server:
        assert census(store)["round_usable"] == 2
        server.script, asked = honest, len(server.requests)
        rank(store, server)
        assert [prompt(body) for body in server.requests[asked:]] == [seen[0]]
    assert census(store)["round_usable"] == 3


def test_a_flag_with_evidence_makes_a_suspicion_and_one_without_makes_nothing(tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", group([5, 4, 3]))

    def script(body: dict[str, Any]) -> Any:
        found = levels(body)
        worst = min(shown_labels(body), key=found.__getitem__)
        reply = answer({label: found[label] for label in shown_labels(body)}, flags={worst: ["test_workaround"]})
        best = max(shown_labels(body), key=found.__getitem__)
        reply["candidates"][best]["test_workaround"] = {"found": True, "evidence": []}
        return reply

    with ranked(store, script):
        pass
    (finding,) = store.query("FROM audit_findings").to_pylist()
    assert (finding["source"], finding["verdict"], finding["kind"]) == ("ranking", "suspected", "test_workaround")
    assert (finding["run"], json.loads(finding["evidence"])) == ("pass-2", ["patch:level.py:1"])
    assert "3 of 3 answers" in finding["reason"]
    assert [row["tier"] for name, row in sorted(rewarded(store).items()) if name.startswith("pass")] == [1, 1, 3]
    assert census(store)["hack_suspected"] == 1


def test_equal_contents_are_shown_once_and_share_the_result(tmp_path: Path) -> None:
    twin = rollout("pass-0", patch(5), said="the same words")
    attempts = [twin, {**twin, "name": "pass-1"}, rollout("pass-2", patch(3)), *group([], 4)]
    store = make_store(tmp_path / "s", attempts)
    with ranked(store, honest) as server:
        assert all(len(shown_labels(body)) == 2 for body in server.requests)
    found = {row["run"]: (row["approach"], row["label"]) for row in rows(store, "round = 0")}
    assert len(found) == 3
    assert found["pass-0"] == found["pass-1"]
    assert census(store)["duplicate_shared"] == 1


def test_equal_patches_get_equal_marks_whatever_a_judge_makes_of_their_transcripts(tmp_path: Path) -> None:
    attempts = [rollout("pass-0", patch(4)), rollout("pass-1", patch(4)), rollout("pass-2", patch(2)), *group([], 5)]
    store = make_store(tmp_path / "s", attempts)
    with ranked(store, first_is_better):
        pass
    for number in range(3):
        found = {row["run"]: row for row in rows(store, f"round = {number}")}
        assert found["pass-0"]["approach"] == found["pass-1"]["approach"]
        assert found["pass-0"]["position"] is None
        assert found["pass-2"]["position"] is not None


def test_what_needs_no_ranking_is_counted_and_nothing_is_asked(tmp_path: Path) -> None:
    cases = {
        "group_single_pass": group([4], 2),
        "group_not_gar": group([4, 3, 5, 2, 1], 1),
        "group_same_passes": [rollout(f"pass-{n}", patch(4), said="same") for n in range(2)] + group([], 2),
        "group_pass_without_patch": [rollout("pass-a", None), *group([4], 2)],
    }
    for kind, attempts in cases.items():
        store = make_store(tmp_path / kind, attempts)
        with ranked(store, honest) as server:
            assert server.requests == []
        assert census(store) == {kind: 1}
        assert store.count("rankings") == 0
    store = make_store(tmp_path / "spec", group([4, 3], 2), spec=None)
    with ranked(store, honest):
        pass
    assert census(store) == {"group_without_spec": 1}


def test_a_confirmed_hack_takes_no_part_and_is_not_shown(tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", group([5, 4, 3], 3))
    confirmed = {"rollout_id": id_of("pass-0"), "task_id": TASK, "source": "rules", "kind": "solution_copied",
                 "verdict": "confirmed", "evidence": "[1]"}  # fmt: skip
    with store.writing() as run:
        run.append("audits", [confirmed])
    with ranked(store, honest) as server:
        assert all("level = 5" not in prompt(body) for body in server.requests)
    assert {row["run"] for row in rows(store)} == {"pass-1", "pass-2"}
    assert [row["verdict"] for row in store.rows("audits")] == ["confirmed"]


def test_rows_of_other_tasks_and_auditors_stay(tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", group([5, 3]))
    other = {"task_id": "other", "group_id": "g", "rollout_id": "x", "round": 0}
    audit = {"rollout_id": "x", "task_id": "other", "source": "ranking", "kind": "test_workaround", "evidence": "[1]"}
    with store.writing() as run:
        run.append("rankings", [other])
        run.append("audits", [audit, {**audit, "source": "rules", "task_id": TASK, "rollout_id": "y"}])
    with ranked(store, honest):
        pass
    assert store.query("SELECT task_id, count(*) AS n FROM rankings GROUP BY ALL ORDER BY n").to_pylist() == [
        {"task_id": "other", "n": 1}, {"task_id": TASK, "n": 6},
    ]  # fmt: skip
    assert sorted(row["source"] for row in store.rows("audits")) == ["ranking", "rules"]


def test_what_does_not_fit_into_one_prompt_is_refused_and_not_cut(tmp_path: Path) -> None:
    long = [rollout(f"pass-{n}", patch(n + 2, "x" * 60_000)) for n in range(2)] + group([], 2)
    store = make_store(tmp_path / "s", long)
    with ranked(store, honest, context=40_000) as server:
        assert server.requests == []
    assert {row["failure_class"] for row in rows(store)} == {"too_long"}


def test_where_no_backend_can_be_had_groups_are_ranked_from_the_prompt_and_the_census_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nothing")
    store = make_store(tmp_path / "s", group([5, 3]), repository=str(tmp_path), recipe="{}")
    opener = Opener(Options(str(store.paths.root), env="docker"), store)
    with ranked(store, honest, opener):
        pass
    assert {row["judge"] for row in store.rows("rankings")} == {"single:scripted"}
    detail = store.query("SELECT detail FROM census WHERE kind = 'environment'").to_pylist()[0]["detail"]
    assert detail.startswith("none: ")


def test_ranking_without_a_model_is_refused(tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", group([5, 3]))
    with pytest.raises(UsageError, match="--model NAME"):
        Rank(store, Options(str(store.paths.root)), None)
