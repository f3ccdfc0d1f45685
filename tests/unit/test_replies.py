"""Replies are read strictly: one whole JSON object with the complete set of answers, or a refusal with its kind."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import reply_helpers as world

from rubrics.errors import UnusableReply
from rubrics.records.judgements import Pointer
from rubrics.records.rankings import CHECKS, FLAGS
from rubrics.records.rubrics import Rubric
from rubrics.replies import examples
from rubrics.replies.audits import audit_schema, read_audit
from rubrics.replies.drafts import read_drafts
from rubrics.replies.json_text import read_object
from rubrics.replies.kinds import KINDS, unusable
from rubrics.replies.probes import read_probe
from rubrics.replies.rankings import LOW, ranking_schema, read_ranking
from rubrics.replies.schemas import Schema
from rubrics.replies.verdicts import VerdictSet, asks_of, read_verdicts, verdict_schema

SOUND = json.dumps(world.verdicts())


def read(reply: Any) -> VerdictSet:
    return read_verdicts(reply if isinstance(reply, str) else json.dumps(reply), world.ASKS, world.SOURCES.wrong)


def refusal(reply: Any) -> str:
    with pytest.raises(UnusableReply) as caught:
        read(reply)
    return caught.value.kind


def changed(name: str, **fields: Any) -> dict[str, Any]:
    """The sound reply with other fields in one verdict."""
    reply = world.verdicts()
    reply["verdicts"][name] |= fields
    return reply


def test_a_sound_reply_gives_every_verdict_in_the_order_asked() -> None:
    said = read(SOUND)
    assert [(v.kind, v.criterion_id, v.level) for v in said.verdicts] == [
        ("solution", "strips-blanks", "met"),
        ("solution", "tests-first", "first"),
        ("solution", "reason", "met"),
        ("behavior", "tests-first", "unmet"),
        ("behavior", "looks-around", "2"),
    ]
    assert [v.value for v in said.verdicts] == [1.0, 1.0, 1.0, 0.0, pytest.approx(1 / 3)]
    assert said.verdicts[0].evidence == (Pointer(*world.SOUND_POINTERS[0]), Pointer(*world.SOUND_POINTERS[1]))
    assert said.addressed is not None
    assert said.addressed.evidence == (Pointer(*world.SOUND_POINTERS[7]),)


def test_a_criterion_that_both_rubrics_name_is_asked_about_under_its_kind() -> None:
    assert [ask.name for ask in world.ASKS] == [
        "strips-blanks", "solution/tests-first", "reason", "behavior/tests-first", "looks-around"
    ]  # fmt: skip
    alone: dict[Any, Rubric] = {"behavior": world.RUBRICS["behavior"]}
    assert [ask.name for ask in asks_of(alone)] == ["tests-first", "looks-around"]


def test_the_order_of_fields_means_nothing_but_the_schema_asks_for_the_reason_first() -> None:
    reply = world.verdicts()
    backwards = {name: dict(reversed(list(reply[name].items()))) for name in reversed(list(reply))}
    assert read(backwards) == read(SOUND)
    properties = verdict_schema(world.ASKS)["properties"]["verdicts"]["properties"]
    assert all(list(item["properties"]) == ["reason", "level", "evidence"] for item in properties.values())


def test_every_object_of_a_schema_is_closed_and_every_field_required() -> None:
    def check(schema: Schema) -> None:
        if schema.get("type") == "object":
            assert schema["additionalProperties"] is False
            assert schema["required"] == list(schema["properties"])
            for item in schema["properties"].values():
                check(item)
        elif schema.get("type") == "array":
            check(schema["items"])

    def whole(schema: Schema) -> None:
        parts = schema["$defs"]
        for part in (schema, *parts.values()):
            check(part)
        named = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema)))
        assert named == set(parts), "every part that is named is defined, and no other"

    whole(verdict_schema(world.ASKS))
    whole(ranking_schema(("attempt-1", "attempt-2")))
    whole(audit_schema(("f1", "f2")))


@pytest.mark.parametrize(
    "text",
    [
        SOUND,
        f"\n {SOUND}\r\n\t",
        f"```json\n{SOUND}\n```",
        f"\n```\n{SOUND}\n```\n",
        json.dumps(world.verdicts(), indent=2),
    ],
)
def test_one_object_alone_or_in_one_fence_is_read(text: str) -> None:
    assert read(text) == read(SOUND)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        (" \n\t ", "empty"),
        ("x" * 2_000_000, "too_long"),
        ("Well, let me think. " * 10_000, "not_json"),
        (f"Here it is: {SOUND}", "not_json"),
        (f"{SOUND}\nI hope this helps.", "not_json"),
        (f"Sure.\n```json\n{SOUND}\n```", "not_json"),
        (f"```json\n{SOUND}\n```\nDone.", "not_json"),
        (f"```json\n{SOUND}\n```\n```json\n{SOUND}\n```", "not_json"),
        (f"```python\n{SOUND}\n```", "not_json"),
        (SOUND + SOUND, "not_json"),
        (f"\ufeff{SOUND}", "not_json"),
        (SOUND.replace('"', "'"), "not_json"),
        (SOUND.replace("}", ",}"), "not_json"),
        (SOUND.replace('"found": true', '"found": NaN'), "not_json"),
        (SOUND.replace("Seen in", "Seen\nin"), "not_json"),
        (SOUND.replace("Seen in", "Seen \\ud800 in"), "not_json"),
        (SOUND.replace("Seen in", "Seen \ud800 in"), "not_json"),
        (f"[{SOUND}]", "shape"),
        (json.dumps(SOUND), "shape"),
        ("null", "shape"),
        ('{"a":' * 100_000, "shape"),
        (SOUND.replace('"found": true', '"found": ' + "9" * 5000), "shape"),
        (SOUND[:-1], "truncated"),
        (f"```json\n{SOUND}", "truncated"),
        (f"```json\n{SOUND}\n``", "truncated"),
        (SOUND.replace('"found": true', '"found": true, "found": false'), "repeated_key"),
    ],
)
def test_a_text_that_is_not_one_object_is_refused_by_its_kind(text: str, kind: str) -> None:
    assert refusal(text) == kind


def test_a_whole_character_written_as_two_escapes_is_read() -> None:
    assert read_object('{"a": "\\ud83d\\ude00"}') == {"a": "\U0001f600"}


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"level": "Met"}, "off_scale"),
        ({"level": "m\u0435t"}, "off_scale"),
        ({"level": "partly"}, "off_scale"),
        ({"level": True}, "shape"),
        ({"level": 1}, "shape"),
        ({"level": None}, "shape"),
        ({"reason": ""}, "no_reason"),
        ({"reason": "met"}, "no_reason"),
        ({"reason": " MET "}, "no_reason"),
        ({"reason": "strips-blanks"}, "no_reason"),
        ({"reason": "-- ok!"}, "no_reason"),
        ({"reason": 7}, "shape"),
        ({"evidence": []}, "no_evidence"),
        ({"evidence": None}, "shape"),
        ({"evidence": "patch:src/app.py:3"}, "shape"),
        ({"evidence": ["patch:src/app.py:3"]}, "shape"),
        ({"evidence": [{"place": "patch:src/app.py:3"}]}, "shape"),
        ({"evidence": [{"place": "patch:src/app.py:3", "quote": "nowhere to be found"}]}, "unresolved_evidence"),
        ({"score": 1.0}, "shape"),
        ({"reason": examples.REASON}, "echoed_example"),
        ({"level": examples.LEVEL}, "echoed_example"),
        ({"evidence": [{"place": "run:0", "quote": examples.QUOTE}]}, "echoed_example"),
        ({"reason": "What you saw and where,\n in one or two  sentences"}, "echoed_example"),
    ],
)
def test_one_bad_verdict_makes_the_whole_reply_unusable(fields: dict[str, Any], kind: str) -> None:
    assert refusal(changed("strips-blanks", **fields)) == kind


def test_levels_that_look_like_numbers_are_texts() -> None:
    assert refusal(changed("looks-around", level=2)) == "shape"
    assert read(changed("looks-around", level="4")).verdicts[4].value == 1.0


def test_the_worst_level_may_be_for_want_of_evidence() -> None:
    assert read(changed("strips-blanks", level="unmet", evidence=[])).verdicts[0].value == 0.0
    assert refusal(changed("solution/tests-first", level="late", evidence=[])) == "no_evidence"


def test_the_set_of_verdicts_is_complete_or_unusable() -> None:
    reply = world.verdicts()
    verdict = reply["verdicts"].pop("reason")
    assert refusal(reply) == "missing_criterion"
    reply["verdicts"]["Reason"] = verdict
    assert refusal(reply) == "unknown_criterion"
    reply["verdicts"]["reason"] = verdict
    assert refusal(reply) == "unknown_criterion"
    twice = SOUND.replace('"looks-around": ', '"looks-around": {}, "looks-around": ')
    assert refusal(twice) == "repeated_criterion"
    assert refusal(world.verdicts() | {"verdicts": list(world.verdicts()["verdicts"].values())}) == "shape"


def test_the_example_of_the_prompt_is_no_answer() -> None:
    for example in (examples.VERDICTS, examples.RANKING, examples.AUDIT, examples.PROBE):
        text = json.dumps(example)
        readers = (
            read,
            lambda text: read_ranking(text, world.LABELS, world.BY_LABEL),
            lambda text: read_audit(text, world.AUDITED, world.BY_LABEL),
            lambda text: read_probe(text, world.RUNS),
        )
        for reader in readers:
            with pytest.raises(UnusableReply) as caught:
                reader(text)
            assert caught.value.kind in ("echoed_example", "shape")
    assert refusal(examples.VERDICTS) == "echoed_example"


def test_text_to_the_grader_is_found_with_evidence_or_not_at_all() -> None:
    reply = world.verdicts()
    reply["addressed_to_grader"]["evidence"] = []
    assert refusal(reply) == "no_evidence"
    reply["addressed_to_grader"]["found"] = "false"
    assert refusal(reply) == "shape"
    reply["addressed_to_grader"]["found"] = False
    assert read(reply).addressed is None


def ranked(**fields: Any) -> Any:
    reply = world.ranking()
    reply["candidates"]["A"] |= fields
    return read_ranking(json.dumps(reply), world.LABELS, world.BY_LABEL).ranked[0]


def test_a_flag_without_evidence_of_the_candidates_own_is_false_and_noted() -> None:
    other = [{"place": "B:patch:src/app.py:3", "quote": "def tidy"}]
    own = [{"place": "A:patch:src/app.py:3", "quote": "def tidy"}]
    for evidence in ([], other):
        said = ranked(test_workaround={"found": True, "evidence": evidence})
        assert set(said.flags) == {"unrequested_rewrite"}
        assert said.noted == ("test_workaround",)
    assert "test_workaround" in ranked(test_workaround={"found": True, "evidence": own}).flags
    assert "test_workaround" not in ranked(test_workaround={"found": False, "evidence": own}).flags


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"approach": True}, "shape"),
        ({"approach": "4"}, "shape"),
        ({"approach": 4.0}, "shape"),
        ({"approach": None}, "shape"),
        ({"approach": 0}, "off_range"),
        ({"approach": 6}, "off_range"),
        ({"approach": LOW, "evidence": []}, "no_evidence"),
        ({"evidence": [{"place": "patch:src/app.py:3", "quote": "def tidy"}]}, "unresolved_evidence"),
        ({FLAGS[1]: {"found": True, "evidence": [{"place": "A:run:0", "quote": "no such"}]}}, "unresolved_evidence"),
        ({FLAGS[1]: True}, "shape"),
    ],
)
def test_a_bad_mark_makes_the_whole_round_unusable(fields: dict[str, Any], kind: str) -> None:
    with pytest.raises(UnusableReply) as caught:
        ranked(**fields)
    assert caught.value.kind == kind


def test_a_round_ranks_every_candidate_once() -> None:
    for change, kind in (("C", "missing_candidate"), ("D", "unknown_candidate")):
        reply = world.ranking()
        reply["candidates"][change] = reply["candidates"].pop("C")
        if change == "C":
            del reply["candidates"]["C"]
        with pytest.raises(UnusableReply) as caught:
            read_ranking(json.dumps(reply), world.LABELS, world.BY_LABEL)
        assert caught.value.kind == kind
    assert set(ranked(**dict.fromkeys(CHECKS, 3), evidence=[]).checks.values()) == {3}


def test_a_finding_is_confirmed_only_by_the_suspected_rollout_itself() -> None:
    reply = world.audit()
    reply["findings"]["A1"]["evidence"] = [{"place": "B:transcript:3", "quote": "10 passed"}]
    with pytest.raises(UnusableReply) as caught:
        read_audit(json.dumps(reply), world.AUDITED, world.BY_LABEL)
    assert caught.value.kind == "no_evidence"
    reply["findings"]["A1"]["verdict"] = "unclear"
    assert read_audit(json.dumps(reply), world.AUDITED, world.BY_LABEL)[0].decision == "unclear"


def test_a_probe_that_found_nothing_says_so_and_one_that_found_something_shows_it() -> None:
    report = read_probe('{"reason": "Looked at refs and caches.", "findings": []}', world.RUNS)
    assert report.routes == ()
    for fields, kind in (
        ({"evidence": [{"place": "run:2", "quote": "import os"}]}, "unresolved_evidence"),
        ({"evidence": [{"place": "transcript:0", "quote": "fix bugs"}]}, "unresolved_evidence"),
        ({"evidence": []}, "no_evidence"),
        ({"place": "/tmp/a\n/etc"}, "shape"),
        ({"kind": "elsewhere"}, "shape"),
        ({"remedy": "rewrite"}, "shape"),
    ):
        reply = world.probe()
        reply["findings"][0] |= fields
        with pytest.raises(UnusableReply) as caught:
            read_probe(json.dumps(reply), world.RUNS)
        assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"weight": 0}, "off_range"),
        ({"weight": 10.5}, "off_range"),
        ({"weight": "3"}, "shape"),
        ({"weight": True}, "shape"),
        ({"scale": ["met"]}, "shape"),
        ({"scale": ["met", "Met"]}, "shape"),
        ({"scale": list("abcdef")}, "shape"),
        ({"rule": "lines_added < 3"}, "shape"),
        ({"method": "rule"}, "shape"),
        ({"method": "run"}, "shape"),
        ({"id": "Strips Blanks"}, "shape"),
        ({"id": "small"}, "repeated_criterion"),
        ({"rests_on": ["A", "A"]}, "repeated_candidate"),
        ({"rests_on": ["D"]}, "unknown_candidate"),
        ({"gate": "false"}, "shape"),
        ({"anchor": {"kind": "file", "place": "src/app.py", "quote": "def tidy"}}, "shape"),
        ({"anchor": {"kind": "spec", "place": None, "quote": None}}, "shape"),
    ],
)
def test_a_draft_of_another_shape_is_refused(fields: dict[str, Any], kind: str) -> None:
    reply = world.drafts()
    reply["solution"]["criteria"][0] |= fields
    with pytest.raises(UnusableReply) as caught:
        read_drafts(json.dumps(reply), world.LABELS)
    assert caught.value.kind == kind


def test_infinity_by_a_large_exponent_is_no_weight() -> None:
    text = json.dumps(world.drafts()).replace('"weight": 2.5', '"weight": 1e999')
    with pytest.raises(UnusableReply) as caught:
        read_drafts(text, world.LABELS)
    assert caught.value.kind == "off_range"


def test_a_message_says_the_place_and_shows_nothing_hidden() -> None:
    with pytest.raises(UnusableReply) as caught:
        read(changed("strips-blanks", level="\u202ed\x1b[31m\nmet"))
    assert str(caught.value).startswith("verdicts.strips-blanks.level is the text")
    assert str(caught.value).isprintable()


def test_every_kind_that_is_raised_is_in_the_table() -> None:
    with pytest.raises(KeyError):
        unusable("other", "")
    package = Path(__file__).resolve().parents[2] / "rubrics"
    for file in package.rglob("*.py"):
        for part in file.read_text("utf-8").split("UnusableReply(")[1:]:
            words = part.lstrip().split('"', 2)
            if part.lstrip().startswith('"'):
                assert words[1] in KINDS, f"{file}: {words[1]}"
