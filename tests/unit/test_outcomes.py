"""The choice of the outcome that counts: exit infra, latest run, file, harness, exit truncated, unknown."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from rubrics.outcomes import choose, differ, doubts, is_measured_here
from rubrics.records.outcomes import Outcome, OutcomeName


def said(source: str, outcome: OutcomeName, detail: str | None = None) -> Outcome:
    return Outcome("r", source, outcome, detail)


def test_nothing_said_is_unknown() -> None:
    choice = choose([])
    assert (choice.outcome, choice.source, choice.disagreement) == ("unknown", None, False)


def test_infra_by_the_exit_status_overrules_recorded_outcomes() -> None:
    choice = choose([said("file:abc", "failed"), said("exit", "infra", "Timeout")])
    assert (choice.outcome, choice.source) == ("infra", "exit")
    assert "Timeout" in choice.why
    assert "file:abc (failed)" in choice.why


def test_the_latest_run_wins_over_earlier_runs_files_and_the_harness() -> None:
    sources = [said("run:2", "failed"), said("run:10", "passed"), said("file:a", "failed"), said("harness:x", "failed")]
    choice = choose(sources)
    assert (choice.outcome, choice.source, choice.disagreement) == ("passed", "run:10", True)


def test_a_file_wins_over_the_harness() -> None:
    assert choose([said("harness:x", "passed"), said("file:a", "failed")]).source == "file:a"


def test_a_pass_that_sources_of_one_rank_dispute_is_a_failure() -> None:
    choice = choose([said("file:a", "passed"), said("file:b", "failed")])
    assert (choice.outcome, choice.source, choice.disagreement) == ("failed", "file:b", True)


def test_sources_that_agree_do_not_disagree() -> None:
    assert not choose([said("harness:x", "passed"), said("file:a", "passed")]).disagreement


def test_a_truncated_attempt_that_passed_the_tests_passed() -> None:
    assert choose([said("exit", "truncated"), said("harness:x", "passed")]).outcome == "passed"


def test_a_truncated_attempt_that_failed_the_tests_is_truncated() -> None:
    choice = choose([said("exit", "truncated", "exit_cost"), said("harness:x", "failed")])
    assert (choice.outcome, choice.source) == ("truncated", "harness:x")
    assert "exit_cost" in choice.why


def test_a_truncated_attempt_without_tests_is_truncated() -> None:
    assert choose([said("exit", "truncated", "exit_cost")]).outcome == "truncated"


def test_a_source_that_says_unknown_says_nothing() -> None:
    assert choose([said("run:1", "unknown"), said("harness:x", "passed")]).outcome == "passed"
    assert choose([said("file:a", "unknown")]).outcome == "unknown"


def test_a_test_run_that_broke_decides_only_when_no_other_source_decides() -> None:
    assert choose([said("run:1", "infra"), said("harness:x", "passed")]).outcome == "passed"
    assert choose([said("run:1", "infra", "no image")]).outcome == "infra"


def test_the_harness_wins_over_what_a_publisher_recorded() -> None:
    choice = choose([said("recorded:predictions", "passed"), said("harness:x", "failed")])
    assert (choice.outcome, choice.source, choice.disagreement) == ("failed", "harness:x", True)


def test_sources_of_the_tests_differ_when_their_words_do_and_unknown_says_nothing() -> None:
    assert differ([said("harness:y", "infra"), said("harness:x", "failed")])
    assert not differ([said("run:1", "infra"), said("harness:x", "failed")]), "a run of ours that broke says nothing"
    assert differ([said("run:1", "passed"), said("run:2", "failed")])
    assert not differ([said("run:1", "unknown"), said("harness:x", "failed")])
    assert not differ([said("exit", "infra")])
    assert not differ([])


def test_an_exit_differs_from_a_pass_and_explains_a_failure() -> None:
    for ended in ("infra", "truncated"):
        assert differ([said("exit", ended), said("file:a", "passed")])
        assert not differ([said("exit", ended), said("file:a", "failed")])


def test_doubts_name_the_rollout_its_sources_and_what_counts() -> None:
    outcomes = [said("exit", "infra", "Timeout"), said("harness:x", "passed"), said("run:1", "failed")]
    overruled, disagreement = doubts("test", "r", "task t, run r", outcomes)
    assert (overruled.stage, overruled.kind, overruled.place) == ("test", "overruled", "r")
    assert "Timeout" in overruled.detail
    assert disagreement.detail == "task t, run r: exit infra, harness:x passed, run:1 failed; counted as infra"
    assert not list(doubts("test", "r", "t", [said("exit", "infra"), said("harness:x", "unknown")]))
    assert not list(doubts("test", "r", "t", []))


def test_runs_and_logs_that_were_read_are_measured_here_and_reports_are_not() -> None:
    measured = ("run:1", "log:a", "harness:r/eval/t-1/test_output.txt", "harness:test_output.txt")
    assert all(map(is_measured_here, measured))
    assert not any(map(is_measured_here, ("exit", "file:a", "harness:r/eval/t-1/report.json", "recorded:native")))


SOURCES = st.sampled_from(["exit", "run:1", "run:2", "file:a", "file:b", "harness:x", "harness:y", "recorded:a", "odd"])
OUTCOMES: st.SearchStrategy[OutcomeName] = st.sampled_from(["passed", "failed", "infra", "truncated", "unknown"])


@given(st.lists(st.builds(said, SOURCES, OUTCOMES), max_size=4))
def test_the_order_of_the_outcomes_does_not_matter(outcomes: list[Outcome]) -> None:
    assert len({choose(order) for order in permutations(outcomes)}) == 1


@given(st.lists(st.builds(said, SOURCES, OUTCOMES), max_size=4))
def test_what_differs_has_a_line_always(outcomes: list[Outcome]) -> None:
    kinds = {line.kind for line in doubts("test", "r", "t", outcomes)}
    assert ("disagreement" in kinds) == choose(outcomes).disagreement == differ(outcomes)
    verdicts = {item.outcome for item in outcomes if item.source != "exit"} & {"passed", "failed"}
    if len(verdicts) == 2:
        assert "disagreement" in kinds


@given(st.lists(st.builds(said, SOURCES, OUTCOMES), max_size=5))
def test_a_choice_never_passes_without_a_source_that_says_passed(outcomes: list[Outcome]) -> None:
    choice = choose(outcomes)
    if choice.outcome == "passed":
        assert any(item.source == choice.source and item.outcome == "passed" for item in outcomes)
        assert not any(item.source == "exit" and item.outcome == "infra" for item in outcomes)
