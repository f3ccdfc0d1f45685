"""Parts of the author that asks a model: what is looked up at base, what it remembers, what closes a conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from authoring_helpers import GOOD, SAMPLE, SPANS, submission
from judging.attacks import innocent
from judging.graders import TASK
from test_author_hostile import BRIEF, studied

from rubrics.authors.model_base import Base
from rubrics.authors.model_draft import Work, criteria
from rubrics.authors.model_ground import ground, labels_of
from rubrics.authors.model_talk import answered
from rubrics.environments.choose import choose
from rubrics.environments.recipes import Places
from rubrics.environments.session import Limits, Session
from rubrics.errors import InfraError
from rubrics.records.tasks import Task


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    try:
        environment, _ = choose("bubblewrap", Places((SAMPLE,)), Limits())
    except InfraError as error:
        pytest.skip(f"bubblewrap: {error}")
    opened = environment.open(Task(SPANS, None, None, None, f"source/{SPANS}/base"), None)
    yield opened
    opened.close()
    environment.close()


@pytest.mark.parametrize(
    ("path", "number", "quote", "stands"),
    [
        ("spans/merge.py", 6, "spans.sort()", True),
        ("spans/merge.py", 6, "   spans.sort()\nmore", True),
        ("spans/merge.py", 6, "", True),
        ("spans/merge.py", 7, "spans.sort()", False),
        ("spans/merge.py", 99, "", False),
        ("spans/none.py", 1, "", False),
        ("spans", 1, "", False),
        ("/etc/passwd", 1, "", False),
        ("../etc/passwd", 1, "", False),
        ("spans/../../etc/passwd", 1, "", False),
        ("$(touch x)'; touch y #", 1, "", False),
        ("-n", 1, "", False),
    ],
)
def test_a_line_stands_where_the_file_at_base_has_it(
    session: Session, path: str, number: int, quote: str, stands: bool
) -> None:
    assert Base(lambda: session).line(path, number, quote) is stands


@pytest.mark.parametrize(
    ("name", "stands"),
    [("merge", True), ("spans/parse.py", True), ("merg", False), ("_checked", False), ("a\nb", False), ("-e", False),
     ("$(touch x)", False), ("'; touch y #", False), ("", False)],
)  # fmt: skip
def test_a_name_stands_where_a_file_at_base_holds_it_whole(session: Session, name: str, stands: bool) -> None:
    if name:
        assert Base(lambda: session).name(name) is stands
    assert session.run("ls x y", 10).exit_code != 0


def test_what_was_looked_up_is_not_looked_up_again(session: Session) -> None:
    first = Base(lambda: session)
    assert first.name("merge")
    assert not first.line("spans/merge.py", 99, "")

    def never() -> Session:
        raise AssertionError("opened")

    again = Base(never, first.answers)
    assert again.name("merge")
    assert not again.line("spans/merge.py", 99, "")
    assert Base(None).name("merge") is False


def test_without_a_repository_a_name_that_two_attempts_were_shown_is_one_of_it() -> None:
    attempts, _ = studied([innocent(TASK), innocent(TASK)])
    seen = ground(BRIEF, attempts, Base(None), False, lambda text: False, lambda *rule: frozenset())
    assert seen.name_stands("size")
    assert not seen.name_stands("accumulated")
    alone = ground(BRIEF, attempts[:1], Base(None), False, lambda text: False, lambda *rule: frozenset())
    assert alone.name_stands("end")
    assert alone.line_stands("src/sizes.py", 11, "return len(text.encode())")
    assert not alone.line_stands("src/sizes.py", 11, "return len(text)")


def test_work_is_remembered_as_it_was_and_what_cannot_be_read_is_no_work() -> None:
    attempts, _ = studied([innocent(TASK)] * 4)
    labels = labels_of(attempts)
    work = Work(json.dumps(GOOD), json.dumps(submission([], [])), "m", 3, {"name x": True})
    assert Work.from_json(work.to_json(), labels) == work
    assert not criteria(work.last(labels), attempts)["solution"]
    for text in (None, "", "null", "[]", "{}", '{"draft": "x"}', work.to_json().replace("submit", "x")[:-5]):
        assert Work.from_json(text, labels) is None
    assert Work.from_json(work.to_json(), ()) == work
    assert Work.from_json(Work(json.dumps(GOOD), None, "m", 1).to_json(), ()) is None


def test_evidence_names_the_attempts_that_a_criterion_rests_on_else_all_that_could_show_it() -> None:
    attempts, _ = studied([innocent(TASK)] * 4)
    drafts = Work(json.dumps(GOOD), None, "m", 1).last(labels_of(attempts))
    found = criteria(drafts, attempts)["solution"]
    assert len(found[0].evidence) == 1
    assert len(found[3].evidence) == 2
    assert found[2].anchor == "spans/merge.py:6: spans.sort()"


def test_every_call_is_answered_before_the_author_is_told_what_is_wrong() -> None:
    called = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in ("a", "submit_rubrics", "b")]
    talk = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": called},
        {"role": "tool", "tool_call_id": "a", "content": "x"},
        {"role": "tool", "tool_call_id": "submit_rubrics", "content": "accepted"},
    ]
    closed = answered(talk, "wrong")
    assert [message.get("tool_call_id") for message in closed[2:]] == ["a", "submit_rubrics", "b", None]
    assert closed[-1] == {"role": "user", "content": "wrong"}
