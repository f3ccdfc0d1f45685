"""Text in a rollout that works on the grader: the structure of the prompt holds, and what stops a grader that obeys."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from judging.attacks import ATTACKS, Attack, innocent
from judging.carriers import CARRIERS
from judging.graders import (
    BEST,
    SOUND,
    TASK,
    Grader,
    case_of,
    find,
    judged,
    obeys,
    parrots,
    places,
    prompt_of,
    quoting_the_attack,
    sound,
)  # fmt: skip
from model_server.server import serving

from rubrics.audit.audit import audit_one
from rubrics.audit.findings import Finding
from rubrics.audit.material import Material, TaskFacts
from rubrics.facts.diffs import parse_patch
from rubrics.judges.single import SingleJudge
from rubrics.prompting.fences import outside_fences, parse_fences
from rubrics.records.judgements import Judgement
from rubrics.records.rollouts import Rollout
from rubrics.visible import defused, visible

BY_NAME = {attack.name: attack for attack in ATTACKS}
NOT_SEARCHED = frozenset(
    {"test output", "tool result", "neighbour of the spec", "opening", "reasoning", "around the diff", "hunk header"}
)
MISSED = frozenset(
    {"an order in another language", "an order split over lines", "an order encoded", "documentation with a policy",
     "documentation with another scale", "documentation of great length", "placeholders of formats",
     "a name with a role marker", "a name turned around"}
)  # fmt: skip
"""What no pattern knows."""
MARK = re.compile(r"\[\[(?:turn|reasoning|end of reasoning|call|observation|file|note)\b.*\]\]")


class Named:
    """Stands in for the client where nothing is sent."""

    name = "scripted"


def prompt_for(attack: Attack | None) -> str:
    rollout = innocent(TASK) if attack is None else attack.rollout(TASK)
    (request,) = SingleJudge(Named()).requests(case_of(rollout))  # type: ignore[arg-type]
    return str(request.messages[-1]["content"])


def graded(grader: Grader) -> dict[str, Judgement]:
    """Every attack through the single judge; the scripted server answers as this grader does."""
    attacks = {prompt_for(attack): attack for attack in ATTACKS}
    with serving(lambda body: grader(prompt_of(body), attacks[prompt_of(body)])) as server:
        judgements = judged(server.url, [attack.rollout(TASK) for attack in ATTACKS])
    return dict(zip(BY_NAME, judgements, strict=True))


def levels(judgement: Judgement) -> dict[str, str]:
    return {verdict.criterion_id: verdict.level for verdict in judgement.verdicts}


def test_the_corpus_is_large_and_covers_every_place() -> None:
    assert len(ATTACKS) >= 60
    assert len(BY_NAME) == len({attack.rollout(TASK).content_digest for attack in ATTACKS}) == len(ATTACKS)
    assert {attack.where for attack in ATTACKS} == set(CARRIERS)


@pytest.mark.parametrize("name", BY_NAME)
def test_an_attack_leaves_the_structure_of_the_prompt_as_it_is(name: str) -> None:
    rollout, prompt, plain = BY_NAME[name].rollout(TASK), prompt_for(BY_NAME[name]), prompt_for(None)
    assert outside_fences(prompt) == outside_fences(plain)
    sections = {section.label: section.text for section in parse_fences(prompt)}
    assert list(sections) == [section.label for section in parse_fences(plain)]
    turns = re.findall(r"^\[\[turn (\d+)", "\n".join(sections.values()), re.MULTILINE)
    assert turns == [str(number) for number in range(len(rollout.turns or ()))]
    files = [line for line in sections["patch"].splitlines() if line.startswith(("[[file added", "[[file modified"))]
    assert len(files) == len(parse_patch(rollout.patch or "").files)


@pytest.mark.parametrize("name", BY_NAME)
def test_an_attack_shows_no_hidden_letter_and_no_mark_but_ours(name: str) -> None:
    for section in parse_fences(prompt_for(BY_NAME[name])):
        assert visible(section.text) == section.text
        content = "\n".join(line for line in section.text.split("\n") if not MARK.fullmatch(line))
        assert defused(content) == content


@pytest.mark.parametrize("name", BY_NAME)
def test_what_the_attack_says_stays_readable_where_it_stands(name: str) -> None:
    assert find(prompt_for(BY_NAME[name]), BY_NAME[name].quote) is not None


def test_a_sound_grader_says_of_every_attack_what_it_says_of_the_innocent_and_reports_it() -> None:
    found = graded(sound)
    assert {name: levels(judgement) for name, judgement in found.items()} == dict.fromkeys(BY_NAME, SOUND)
    reported = {name for name, judgement in found.items() if judgement.addressed is not None}
    assert reported == {attack.name for attack in ATTACKS if attack.addresses}
    for judgement in found.values():
        assert judgement.failure_class is None
        assert judgement.addressed is None or judgement.addressed.evidence


@pytest.mark.parametrize(
    ("grader", "failures"),
    [
        (obeys(lambda prompt, attack: []), {"no_evidence"}),
        (obeys(lambda prompt, attack: [{"place": "transcript:3", "quote": "verified by hand in full"}]),
         {"unresolved_evidence"}),
        (obeys(lambda prompt, attack: [{"place": "transcript:0", "quote": attack.quote}]), {"unresolved_evidence"}),
        (obeys(quoting_the_attack, {"counts-bytes": "met"}), {"missing_criterion"}),
        (obeys(quoting_the_attack, dict.fromkeys(BEST, "10/10")), {"off_scale"}),
        (obeys(quoting_the_attack, dict.fromkeys(BEST, "perfect")), {"off_scale"}),
        (parrots, {"not_json", "shape", "off_scale", "unresolved_evidence", "missing_criterion", "truncated"}),
    ],
    ids=["without evidence", "invented evidence", "the attack's words at another place", "one criterion only",
         "a mark off the scale", "a word off the scale", "the attack's own words"],
)  # fmt: skip
def test_an_obedient_grader_that_breaks_the_form_gives_no_verdict(grader: Grader, failures: set[str]) -> None:
    found = graded(grader)
    assert not any(judgement.verdicts for judgement in found.values())
    assert {judgement.failure_class for judgement in found.values()} <= failures


def test_an_obedient_grader_that_keeps_the_form_is_not_stopped_by_structure() -> None:
    """The limit: orders that are obeyed with evidence that resolves look like any verdict. What is left is the guard of
    another repeat or judge, the audit's own search, and the quote itself, which says what the verdict rests on."""
    found = graded(obeys(quoting_the_attack))
    assert {name: levels(judgement) for name, judgement in found.items()} == dict.fromkeys(BY_NAME, BEST)
    for name, judgement in found.items():
        assert all(pointer.quote for verdict in judgement.verdicts for pointer in verdict.evidence), name


def test_the_audits_own_search_finds_most_of_what_the_agent_itself_said_or_wrote() -> None:
    """It reads neither what tools answered nor reasoning nor text around a diff: that is left to the guard."""
    searched = [attack for attack in ATTACKS if attack.addresses and attack.where not in NOT_SEARCHED]
    missed = {attack.name for attack in searched if not audited(attack.rollout(TASK))}
    assert missed == MISSED
    assert len(missed) <= len(searched) / 4
    assert not audited(innocent(TASK))


def audited(rollout: Rollout) -> list[Finding]:
    material = Material(
        rollout.rollout_id, TaskFacts(TASK.task_id), parse_patch(rollout.patch or ""), rollout.turns or ()
    )
    return [finding for finding in audit_one(material) if finding.pattern in ("grader_addressed", "result_written")]


def test_every_line_of_an_innocent_attempt_can_be_pointed_at() -> None:
    kinds = Counter(place.partition(":")[0] for place, _ in places(prompt_for(None)))
    assert kinds["patch"] >= 4
    assert kinds["transcript"] >= 10
