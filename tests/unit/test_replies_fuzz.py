"""Replies that went wrong in every way are accepted exactly where a slow and plain oracle accepts them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jsonschema
import pytest
import reply_helpers as world
import reply_oracle as oracle
from reply_mutations import mutant
from reply_oracle_json import No, whole_object

from rubrics.errors import UnusableReply
from rubrics.replies.audits import audit_schema, read_audit
from rubrics.replies.drafts import draft_schema, read_drafts
from rubrics.replies.kinds import KINDS
from rubrics.replies.probes import probe_schema, read_probe
from rubrics.replies.rankings import ranking_schema, read_ranking
from rubrics.replies.schemas import Schema
from rubrics.replies.verdicts import read_verdicts, verdict_schema


@dataclass(frozen=True)
class Parser:
    """A reader beside the oracle's reading; both say what an accepted reply comes to."""

    sound: Callable[[int], dict[str, Any]]
    """Sound replies by number: they differ in where their pointers lead."""
    read: Callable[[str], Any]
    oracle: Callable[[str], Any]
    schema: Schema


def _verdicts(text: str) -> Any:
    verdicts = read_verdicts(text, world.ASKS, world.SOURCES.wrong).verdicts
    return {ask.name: verdict.value for ask, verdict in zip(world.ASKS, verdicts, strict=True)}


def _ranking(text: str) -> Any:
    return {r.label: list(r.flags) for r in read_ranking(text, world.LABELS, world.BY_LABEL).ranked}


def _drafts(text: str) -> Any:
    return {kind: [c.id for c in draft.criteria] for kind, draft in read_drafts(text, world.LABELS).items()}


PARSERS = {
    "verdicts": Parser(world.verdicts, _verdicts, oracle.verdicts, verdict_schema(world.ASKS)),
    "ranking": Parser(world.ranking, _ranking, oracle.ranking, ranking_schema(world.LABELS)),
    "audit": Parser(
        world.audit,
        lambda text: [d.decision for d in read_audit(text, world.AUDITED, world.BY_LABEL)],
        oracle.audit,
        audit_schema(world.AUDITED),
    ),
    "probe": Parser(world.probe, lambda text: len(read_probe(text, world.RUNS).routes), oracle.probe, probe_schema()),
    "drafts": Parser(world.drafts, _drafts, oracle.drafts, draft_schema(world.LABELS)),
}


def outcome(parser: Parser, text: str) -> str:
    """`accepted`, or the kind of refusal; fails where reader and oracle differ."""
    value, expected = tried(parser.read, text), tried(parser.oracle, text)
    if isinstance(value, UnusableReply):
        assert value.kind in KINDS
        assert isinstance(expected, No), f"a sound reply is lost ({value.kind}: {value}): {text!r}"
        return value.kind
    assert not isinstance(expected, No), f"accepted against the oracle ({expected}): {text!r}"
    assert value == expected
    assert jsonschema.Draft202012Validator(parser.schema).is_valid(whole_object(text))
    return "accepted"


def tried(read: Callable[[str], Any], text: str) -> Any:
    """What comes of reading, or the refusal."""
    try:
        return read(text)
    except (UnusableReply, No) as refusal:
        return refusal


def fuzz(name: str, count: int, seed: int) -> Counter[str]:
    """How many of `count` replies end in which outcome."""
    parser, chance = PARSERS[name], random.Random(seed)
    return Counter(outcome(parser, mutant(parser.sound(chance.randrange(1000)), chance)) for _ in range(count))


@pytest.mark.parametrize("name", PARSERS)
def test_readers_agree_with_the_oracle_about_replies_that_went_wrong(name: str) -> None:
    counts = fuzz(name, 400, seed=5)
    assert counts["accepted"] > 20
    assert len(counts) >= 6


@pytest.mark.parametrize("name", PARSERS)
def test_a_reply_that_breaks_off_anywhere_is_truncated(name: str) -> None:
    text = world.said(PARSERS[name].sound(0))
    for fence in ("", "```json\n"):
        for end in range(1, len(text), 11):
            with pytest.raises(UnusableReply) as caught:
                PARSERS[name].read(fence + text[:end])
            assert caught.value.kind == "truncated", text[:end]
