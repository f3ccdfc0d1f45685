"""`score` with a judge that asks a model: what the tables say, and what a failure leaves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from judged_store import CRITERIA, score, with_judge_criteria
from model_server.server import Raw, serving
from model_server.sound import first_place, sound_verdicts

from rubrics.errors import StoreError, UsageError
from rubrics.report.explain import explain
from rubrics.stages.judging import statuses
from rubrics.stages.pipeline import run_stages
from rubrics.stages.stage import run_here
from rubrics.store.store import Store

JUDGED = sum(map(len, CRITERIA.values()))


@pytest.fixture
def store(sample_store: Store, tmp_path: Path) -> Store:
    return with_judge_criteria(sample_store, tmp_path / "store")


def reward(store: Store, **options: Any) -> None:
    run_stages(("reward",), {"store": str(store.paths.root), **options}, run_here)


def rows(store: Store, sql: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = store.query(sql).to_pylist()
    return found


def test_every_rollout_gets_every_verdict_from_one_call_and_a_reward_from_them(store: Store) -> None:
    with serving(sound_verdicts) as server:
        score(store, server.url)
    reward(store)
    rollouts = rows(store, "SELECT count(*) AS n FROM rollouts")[0]["n"]
    assert len(server.requests) == rollouts
    judged = rows(store, "FROM grades WHERE judge = 'single:m' AND level IS NOT NULL")
    assert len(judged) == rollouts * JUDGED
    assert {row["value"] for row in judged} == {0.0, 0.5, 1.0}
    assert {(row["judge_model"], row["failure_class"]) for row in judged} == {("m", None)}
    assert all(row["prompt_digest"] for row in judged)
    ruled = rows(store, "FROM grades WHERE judge = 'single:m' AND level IS NULL")
    assert ruled
    assert all(row["reason"].startswith("rule: ") for row in ruled)
    rewards = rows(store, "FROM rewards")
    assert {row["judge"] for row in rewards if row["status"] == "ok"} == {"single:m"}
    costs = rows(store, "SELECT sum(cost) AS cost, sum(calls) AS calls FROM judgements")[0]
    assert costs["calls"] == rollouts
    assert costs["cost"] > 0


def test_scoring_again_asks_nothing_and_says_the_same(store: Store) -> None:
    with serving(sound_verdicts) as server:
        score(store, server.url)
        before = rows(store, "SELECT * EXCLUDE (code_version) FROM grades ORDER BY ALL")
        asked, commit = len(server.requests), store.manifest().commit
        score(store, server.url)
        assert len(server.requests) == asked
    assert rows(store, "SELECT * EXCLUDE (code_version) FROM grades ORDER BY ALL") == before
    assert store.manifest().commit == commit


def test_one_bad_reply_masks_its_rollout_and_a_rerun_asks_for_that_one_alone(store: Store) -> None:
    spoiled: list[str] = []

    def script(body: dict[str, Any]) -> Any:
        said = sound_verdicts(body)
        attempt = body["messages"][-1]["content"]
        if not spoiled or attempt in spoiled:
            spoiled.append(attempt)
            said["verdicts"].pop(next(iter(said["verdicts"])))
        return said

    with serving(script) as server:
        score(store, server.url)
        lost = rows(store, "FROM judgements WHERE failure_class IS NOT NULL")
        assert [(row["failure_class"], row["calls"]) for row in lost] == [("missing_criterion", 2)]
        null = rows(
            store, "FROM grades WHERE judge = 'single:m' AND value IS NULL AND failure_class = 'missing_criterion'"
        )
        assert {row["rollout_id"] for row in null} == {lost[0]["rollout_id"]}
        assert len(null) == JUDGED, "no verdict of an incomplete set is kept"
        masked = rows(store, f"FROM scores WHERE rollout_id = '{lost[0]['rollout_id']}' AND judge = 'single:m'")
        assert {row["score"] for row in masked} == {None}
        server.requests.clear()
        spoiled[:] = ["nothing more"]
        score(store, server.url)
        assert len(server.requests) == 1
    assert rows(store, "FROM judgements WHERE failure_class IS NOT NULL") == []


def test_repeats_are_kept_one_by_one_and_their_median_counts(store: Store) -> None:
    counts: Counter[str] = Counter()

    def script(body: dict[str, Any]) -> Any:
        attempt = body["messages"][-1]["content"]
        counts[attempt] += 1
        return sound_verdicts(body, lambda name, text, levels: (0, 2, 2)[counts[attempt] - 1])

    with serving(script) as server:
        score(store, server.url, repeats=3, concurrency=1)
    assert set(counts.values()) == {3}
    agreed = rows(store, "FROM judge_agreement WHERE criterion_id = 'stays-on-the-task' AND judge = 'single:m'")
    assert {(row["repeats"], row["median_value"], row["spread"]) for row in agreed} == {(3, 1.0, 1.0)}
    assert {round(row["agreement"], 6) for row in agreed} == {0.666667}


def test_two_judges_in_one_store_give_one_reward_row_each_rollout(store: Store) -> None:
    with serving(sound_verdicts) as server:
        score(store, server.url)
        score(store, server.url, model="other")
        reward(store)
        assert {row["judge"] for row in rows(store, "FROM rewards")} == {"single:other"}, "the last that scored"
        reward(store, judge="single:m")
        assert {row["judge"] for row in rows(store, "FROM rewards")} == {"single:m"}
        with pytest.raises(UsageError, match=r"single:m, single:other.*'agent'.*--judge"):
            reward(store, judge="agent")
        reward(store, judge="single:other")
    rewards = rows(store, "FROM rewards")
    assert len(rewards) == rows(store, "SELECT count(*) AS n FROM rollouts")[0]["n"]
    assert {row["judge"] for row in rewards} <= {"single:other", None}


def test_an_endpoint_that_refuses_the_key_masks_everything_and_invents_nothing(store: Store) -> None:
    with serving(lambda body: Raw(401, b'{"error": {"message": "bad key"}}')) as server:
        score(store, server.url)
    assert {row["failure_class"] for row in rows(store, "FROM judgements")} == {"authentication"}
    judged = "FROM grades WHERE judge = 'single:m' AND criterion_id = 'stays-on-the-task'"
    assert {(row["value"], row["failure_class"]) for row in rows(store, judged)} == {(None, "authentication")}


def test_only_passes_are_judged_when_asked_and_the_others_say_so(store: Store) -> None:
    with serving(sound_verdicts) as server:
        score(store, server.url, passes_only=True)
    reward(store)
    passes = rows(store, "SELECT count(*) AS n FROM chosen_outcomes WHERE outcome = 'passed'")[0]["n"]
    assert 0 < len(server.requests) == passes
    left = rows(
        store, "SELECT DISTINCT failure_class FROM grades WHERE criterion_id = 'stays-on-the-task' AND value IS NULL"
    )
    assert left == [{"failure_class": "not_judged"}]
    told = rows(store, "SELECT DISTINCT kind, detail FROM census WHERE stage = 'score' AND subject <> 'run'")
    assert told == [{"kind": "not_judged", "detail": "left out by --passes-only"}], "that is no failure of the judge"
    assert rows(store, "FROM rewards WHERE status = 'ungraded'") == []


def test_a_rollout_whose_rules_were_never_evaluated_had_a_score_of_the_judges_verdicts_alone(store: Store) -> None:
    with serving(sound_verdicts) as server:
        score(store, server.url)
        (lost,) = rows(store, "SELECT rollout_id FROM rollouts ORDER BY rollout_id LIMIT 1")
        found = f"rollout_id = '{lost['rollout_id']}'"
        with store.writing() as run:  # as an ingest leaves it that was killed before the facts
            run.append("facts", ())
            run.keep("facts", f"NOT ({found})")
        with pytest.raises(StoreError, match="1 rollouts were never measured"):
            score(store, server.url)
    with store.writing() as run:
        run.append("grades", ())
        run.keep("grades", f"NOT ({found} AND starts_with(reason, 'rule: '))")
    scored = rows(store, f"FROM scores WHERE {found} AND judge = 'single:m'")
    assert {(row["score"], row["failure_class"]) for row in scored} == {(None, "no_verdict")}
    reward(store, judge="single:m")
    (rewarded,) = rows(store, f"FROM rewards WHERE {found}")
    assert (rewarded["solution"], rewarded["behavior"]) == (None, None)


def test_rules_and_judges_that_answered_once_looked_like_repeats_that_agree(store: Store) -> None:
    with serving(sound_verdicts) as server:
        score(store, server.url)
        score(store, server.url, model="other", repeats=2)
    agreed = rows(store, "SELECT judge, criterion_id, repeats FROM judge_agreement")
    assert {(row["judge"], row["repeats"]) for row in agreed} == {("single:other", 2)}
    assert {row["criterion_id"] for row in agreed} == {name for names in CRITERIA.values() for name in names}
    assert {row["judge"] for row in rows(store, "FROM score_repeats")} == {"single:other"}


def test_what_the_guard_question_found_in_a_later_repeat_was_lost(store: Store) -> None:
    seen: list[str] = []

    def script(body: dict[str, Any]) -> Any:
        said, attempt = sound_verdicts(body), body["messages"][-1]["content"]
        place = first_place(attempt[attempt.index("\nThe attempt:") :])
        if attempt in seen and place:
            said["addressed_to_grader"] = {"reason": "It asks for marks.", "found": True, "evidence": [place]}
        seen.append(attempt)
        return said

    with serving(script) as server:
        score(store, server.url, repeats=3, concurrency=1)
    found = rows(store, "FROM audits WHERE source = 'guard:single:m'")
    assert len({row["rollout_id"] for row in found}) == len(found) > 0
    assert {(row["kind"], row["verdict"]) for row in found} == {("grader_addressed", "suspected")}


def test_a_test_whose_id_has_two_lines_spoke_for_another_test() -> None:
    said = statuses('{"test_b": "failed", "test_a\\npassed test_b": "failed"}')
    assert said == "failed test_a\\npassed test_b\nfailed test_b"


def test_a_rollout_with_one_failed_repeat_could_not_be_explained_for_the_median_of_the_others_was_taken(
    store: Store,
) -> None:
    spoiled: list[str] = []

    def script(body: dict[str, Any]) -> Any:
        spoiled.append(body["messages"][-1]["content"])
        return "no JSON at all" if len(spoiled) <= 2 else sound_verdicts(body)

    with serving(script) as server:
        score(store, server.url, repeats=3, concurrency=1)
    reward(store)
    (lost,) = rows(store, "SELECT rollout_id FROM judgements WHERE failure_class = 'not_json'")
    said = "\n".join(explain(store, lost["rollout_id"])["arithmetic"])
    assert "criteria have no value" in said
    assert "(not_json)" in said


def test_repeats_with_a_seed_are_drawn_with_seeds_of_their_own(store: Store) -> None:
    """Three repeats with one seed gave one answer three times, and agreement without meaning."""
    with serving(sound_verdicts) as server:
        score(store, server.url, repeats=3, sampling_seed=7, tasks="sample__textkit-17")
    seeds = Counter(body["seed"] for body in server.requests)
    assert seeds == {7: 8, 8: 8, 9: 8}
