"""A model writes the rubrics of a sample task: over HTTP, with real tools in a real sandbox; its words are scripted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from authoring_helpers import (
    BEHAVIOR,
    DUMPS,
    GOOD,
    MODEL,
    SAMPLE,
    SEEN,
    SOLUTION,
    SPANS,
    author,
    calls,
    criterion,
    judges,
    read_everything,
    spec_anchor,
    submission,
    submits,
    synthesized,
)
from model_server.server import Raw, Said

from rubrics.authors.model_prompt import digest
from rubrics.judges.single import SingleJudge
from rubrics.records.rubrics import Rubric
from rubrics.rules.evaluate import RuleEvaluator
from rubrics.stages import rubric_files
from rubrics.stages.pipeline import run_stages
from rubrics.stages.stage import run_here
from rubrics.store.store import Store


def written(store: Store, task_id: str = SPANS) -> dict[Any, Rubric]:
    """The rubrics as their files say, every rule checked."""
    with RuleEvaluator() as evaluator:
        return dict(rubric_files.load(store.paths, task_id, evaluator))


def census(store: Store) -> dict[str, str]:
    return {row["kind"]: row["detail"] for row in store.rows("census", where="stage = 'synthesize'")}


def ids(rubric: Rubric) -> list[str]:
    return [item.id for item in rubric.criteria]


def told(body: dict[str, Any]) -> str:
    """What the author was answered last."""
    content: str = body["messages"][-1]["content"]
    return content


def test_a_draft_that_nothing_is_wrong_with_becomes_both_rubrics(store: Store) -> None:
    with author(read_everything, submits(GOOD)) as server:
        store = synthesized(store, server)
        assert len(server.requests) == 2
    rubrics = written(store)
    assert ids(rubrics["solution"]) == [item["id"] for item in SOLUTION]
    assert ids(rubrics["behavior"]) == [item["id"] for item in BEHAVIOR]
    for kind, rubric in rubrics.items():
        assert rubric.author == MODEL
        assert len(rubric.studied) == 4
        assert rubric.note.startswith("Studied 4 attempts with a")
        for item in rubric.criteria:
            assert item.anchor or item.fault, (kind, item.id)
            assert item.evidence
            assert all(any(name.startswith(given) for name in rubric.studied) for given in item.evidence)
            assert item.fared
    assert rubrics["solution"].criteria[2].anchor == "spans/merge.py:6: spans.sort()"
    assert rubrics["solution"].criteria[0].fared == "not tried: no judge was there to answer it"
    assert rubrics["solution"].criteria[4].fared == "passing 1.00, failing 1.00 on average"
    rows = store.rows("rubrics")
    assert {(row["author"], row["prompt_digest"]) for row in rows} == {(MODEL, digest())}
    assert census(store)["written_by_model"] == f"{MODEL}, 2 turns"


def test_every_tool_answers_from_the_prepared_environment_or_the_attempt(store: Store) -> None:
    with author(read_everything, submits(GOOD)) as server:
        synthesized(store, server)
        answers = [message["content"] for message in server.requests[1]["messages"] if message["role"] == "tool"]
    listed, read, searched, ran, patch, transcript, found, tests = answers
    assert "./spans/merge.py" in listed
    assert "6:     spans.sort()" in read
    assert "./spans/report.py:8:" in searched
    assert "OK" in ran
    assert "[[file modified: spans/merge.py]]" in patch
    assert "[[turn 2 assistant]]" in transcript
    assert "turn " in found
    assert "failed tests." in tests
    assert not [answer for answer in answers if answer.startswith("refused")]


def test_what_lint_finds_is_told_once_and_the_repaired_draft_counts(store: Store) -> None:
    joined = criterion(
        "refuses-reversed-spans",
        "Raises `ValueError` for a reversed span and drops empty spans.",
        anchor=spec_anchor("Empty spans, with start equal to end, are dropped."),
    )
    countable = criterion(
        "small", "Adds at most 20 lines.", anchor=spec_anchor("The result is a sorted list of tuples.")
    )
    draft = submission([SOLUTION[0], joined, countable, *SOLUTION[2:]], BEHAVIOR)
    with author(submits(draft), submits(GOOD)) as server:
        store = synthesized(store, server)
        assert len(server.requests) == 2
        report = told(server.requests[1])
    assert "solution criterion refuses-reversed-spans: it joins two demands" in report
    assert "solution criterion small: 'at most 20 lines' can be counted" in report
    assert report.count("\n- ") == 2
    assert ids(written(store)["solution"]) == [item["id"] for item in SOLUTION]
    assert "Dropped" not in written(store)["solution"].note


def test_what_is_still_wrong_after_the_revision_is_dropped_and_the_file_says_why(store: Store) -> None:
    wrong = criterion(
        "refuses-nothing", "Errors are handled properly.", anchor=spec_anchor("it should be nice to users")
    )
    draft = submission([*SOLUTION, wrong], BEHAVIOR)
    with author(submits(draft), submits(draft)) as server:
        store = synthesized(store, server)
        assert len(server.requests) == 2
    solution = written(store)["solution"]
    assert ids(solution) == [item["id"] for item in SOLUTION]
    assert "Dropped after one revision: refuses-nothing (not checkable, no anchor that stands)." in solution.note
    assert census(store)["criterion_dropped"] == "solution refuses-nothing: not checkable, no anchor that stands"


def test_a_draft_of_which_nothing_stands_gives_an_empty_rubric_that_says_so(store: Store) -> None:
    wrong = criterion("is-good", "The change is good.", anchor=spec_anchor("no passage of the spec at all"))
    draft = submission([wrong], [])
    with author(submits(draft)) as server:
        store = synthesized(store, server)
    solution, behavior = written(store)["solution"], written(store)["behavior"]
    assert solution.criteria == behavior.criteria == ()
    assert "Dropped after one revision: is-good" in solution.note
    assert "It has no criteria and is no factor of the reward." in solution.note
    assert "empty_solution_rubric" in census(store)


def test_the_judge_tries_what_no_rule_can_and_flat_or_twin_criteria_go(store: Store) -> None:
    flat = criterion(
        "defines-merge",
        "`merge` is still there to be called.",
        anchor=spec_anchor("`total` and `gaps` build on `merge`"),
    )
    twin = criterion(
        "shows-the-span",
        "The message of the error for a reversed span has both ends in it.",
        anchor=SOLUTION[1]["anchor"],
        weight=1,
    )
    draft = submission([*SOLUTION, twin, flat], BEHAVIOR)
    with author(submits(draft), submits(draft), judge=judges({**SEEN, twin["id"]: "raise ValueError"})) as server:
        store = synthesized(store, server, judge=SingleJudge)
        report = told(next(body for body in server.requests if "checked and tried" in json.dumps(body)))
        asked = [body for body in server.requests if "tools" not in body]
    assert "solution criterion defines-merge: no attempt meets it" in report
    assert "solution criterion shows-the-span: the studied attempts do not tell it from refuses-reversed" in report
    assert "behavior criterion tries-each-case-of-the-issue: no attempt meets it" in report
    assert len(asked) == 4
    solution = written(store)["solution"]
    assert ids(solution) == [item["id"] for item in SOLUTION]
    assert solution.criteria[0].fared == f"by single:{MODEL}: passing 1.00, failing 0.50 on average"
    assert "defines-merge (all or no attempts meet it)" in solution.note


def test_a_criterion_that_a_passing_attempt_contradicts_stays_only_if_the_spec_asks_for_it(store: Store) -> None:
    half = {"id": "x", "guidance": "Met when there is a helper of that kind; unmet when there is none."}
    text = "A function of its own checks the spans before they are merged."
    by_file = {**SOLUTION[2], **half, "text": text, "id": "by-file"}
    seen = {**dict.fromkeys(["by-file", "by-spec"], "_checked"), "keeps-the-farther-end": "max("}
    by_spec = {**by_file, "id": "by-spec", "anchor": SOLUTION[1]["anchor"]}
    for item, kept in ((by_file, False), (by_spec, True)):
        draft = submission([SOLUTION[0], item], [])
        with author(submits(draft), judge=judges(seen)) as server:
            found = synthesized(store, server, judge=SingleJudge)
        solution = written(found)["solution"]
        assert (item["id"] in ids(solution)) is kept
        assert ("passing attempts contradict it" in solution.note) is not kept


def test_a_judge_that_fails_leaves_its_questions_untried_and_the_file_says_so(store: Store) -> None:
    with author(submits(GOOD), judge=lambda body: "I would rather not say.") as server:
        store = synthesized(store, server, judge=SingleJudge)
    solution = written(store)["solution"]
    assert ids(solution) == [item["id"] for item in SOLUTION]
    assert solution.criteria[0].fared == (
        f"by single:{MODEL}: passing unknown, failing unknown on average; 4 unknown (not_json)"
    )


def test_finished_work_is_remembered_and_a_rerun_asks_nothing(store: Store) -> None:
    draft = submission([*SOLUTION, criterion("is-good", "The change is good.")], BEHAVIOR)
    with author(read_everything, submits(draft), submits(draft), judge=judges()) as server:
        first = written(synthesized(store, server, judge=SingleJudge))
        asked = len(server.requests)
        again = synthesized(store, server, judge=SingleJudge, resynthesize=True)
        assert len(server.requests) == asked
    assert written(again) == first
    with author(submits(GOOD)) as other:
        synthesized(store, other, study=3)
        assert other.requests


NONSENSE: list[tuple[str, Said]] = [
    ("no_call", Said("Here are your rubrics: be good.")),
    ("shape", calls(("submit_rubrics", {"criteria": []}))),
    ("not_json", calls(("submit_rubrics", "{solution: yes}"))),
    ("truncated", calls(("submit_rubrics", json.dumps(GOOD)[:700]))),
    ("bad_call", calls(("drop_tables", {}))),
    ("unknown_candidate", submits(submission([criterion("a", "Does it.", rests_on=["attempt-9"])], []))),
]


@pytest.mark.parametrize(("kind", "said"), NONSENSE, ids=[kind for kind, _ in NONSENSE])
def test_nonsense_gives_no_rubric_and_the_class_of_the_failure(store: Store, kind: str, said: Said) -> None:
    with author(said) as server:
        store = synthesized(store, server)
        assert len(server.requests) > 2
    assert written(store) == {}
    assert f"no rubric from {MODEL}, earlier ones stay" in census(store)[kind]
    assert store.count("rubrics") == store.count("studies") == 0


def test_a_failure_keeps_the_rubrics_of_before_and_is_asked_again(store: Store) -> None:
    with author(submits(GOOD)) as server:
        store = synthesized(store, server)
    files = {path.name: path.read_bytes() for path in (store.paths.root / "rubrics").iterdir()}
    rows = store.rows("rubrics"), store.count("studies"), store.count("contrasts")
    with author(Raw(400, b'{"error": {"message": "no"}}')) as server:
        store = synthesized(store, server, study=3)
        assert len(server.requests) == 1
        assert {path.name: path.read_bytes() for path in (store.paths.root / "rubrics").iterdir()} == files
        assert (store.rows("rubrics"), store.count("studies"), store.count("contrasts")) == rows
        assert "bad_request" in census(store)
        synthesized(store, server, study=3)
        assert len(server.requests) == 2


def test_one_task_that_fails_does_not_keep_another_from_its_rubrics(store: Store) -> None:
    def script(body: dict[str, Any]) -> Any:
        return submits(GOOD) if SPANS in json.dumps(body) else Raw(400, b"{}")

    with author(script) as server:
        store = synthesized(store, server, entering=False, tasks="sample__[cs]*")
    assert set(written(store)) == {"solution", "behavior"}
    assert written(store, "sample__confpath-31") == {}
    places = {row["place"] for row in store.rows("census", where="kind = 'bad_request'")}
    assert places == {"sample__confpath-31"}


def test_a_run_asks_again_for_the_tasks_whose_author_failed_and_for_no_other(store: Store) -> None:
    """The stage was left out as soon as the store held any rubric: a failed task stayed without one for good."""
    values = {
        "store": str(store.paths.root), "tasks": "sample__[cs]*", "author": "model", "judge": "builtin",
        "model": MODEL, "env": "bubblewrap", "data": [str(SAMPLE / "nothing")],
    }  # fmt: skip

    def script(body: dict[str, Any]) -> Any:
        return submits(GOOD) if SPANS in json.dumps(body) else Raw(400, b"{}")

    with author(script) as server:
        run_stages(("synthesize",), {**values, "base_url": server.url}, run_here)
        server.requests.clear()
        run_stages(("synthesize",), {**values, "base_url": server.url}, run_here)
        assert server.requests
        assert not [body for body in server.requests if SPANS in json.dumps(body)]
    assert set(written(Store.open(store.paths.root))) == {"solution", "behavior"}


def test_without_an_environment_the_author_works_from_spec_and_attempts(store: Store) -> None:
    base_only = criterion(
        "keeps-total", "`gaps` keeps its name.", anchor=spec_anchor("`total` and `gaps` build on `merge`")
    )
    draft = submission([*SOLUTION[:2], base_only], BEHAVIOR)
    with author(submits(draft)) as server:
        store = synthesized(store, server, entering=False)
        assert len(server.requests) == 1
        offered = {tool["function"]["name"] for tool in server.requests[0]["tools"]}
    assert offered == {"show_patch", "show_transcript", "search_transcript", "show_tests", "submit_rubrics"}
    solution = written(store)["solution"]
    assert "The repository was not read: it rests on spec and attempts alone." in solution.note
    assert len(solution.criteria) == 3


def test_an_environment_that_cannot_be_opened_is_said_and_gone_without(store: Store) -> None:
    with author(submits(submission(SOLUTION[:2], BEHAVIOR))) as server:
        store = synthesized(store, server, data=())
    assert "its author works without one" in census(store)["no_environment"]
    assert "The repository was not read" in written(store)["solution"].note


def test_studied_attempts_of_another_dump_are_opened_too(store: Store) -> None:
    with author(read_everything, submits(GOOD)) as server:
        store = synthesized(store, server, study_from=DUMPS)
        answers = [message["content"] for message in server.requests[1]["messages"] if message["role"] == "tool"]
    assert ids(written(store)["solution"]) == [item["id"] for item in SOLUTION]
    assert "[[file modified: spans/merge.py]]" in answers[4]
    assert "failed tests." in answers[7]


def test_the_whole_run_writes_tries_and_scores_with_one_model(store: Store) -> None:
    values = {
        "store": str(store.paths.root), "tasks": SPANS, "author": "model", "judge": "single", "model": MODEL,
        "env": "bubblewrap", "data": [str(SAMPLE)],
    }  # fmt: skip
    with author(read_everything, submits(GOOD), judge=judges()) as server:
        run_stages(("synthesize", "score"), {**values, "base_url": server.url}, run_here)
    store = Store.open(store.paths.root)
    kept = {(kind, name) for kind, rubric in written(store).items() for name in ids(rubric)}
    grades = store.rows("grades")
    assert {(row["kind"], row["criterion_id"]) for row in grades} == kept
    assert {row["judge"] for row in grades} == {f"single:{MODEL}"}
    assert {row["prompt_digest"] for row in store.rows("rubrics")} == {digest()}
    assert [row for row in grades if row["value"] is not None]
