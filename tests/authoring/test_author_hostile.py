"""Attempts that speak to the author: what they say stays inside fences, and an author that obeys gains nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from authoring_helpers import author, calls, criterion, spec_anchor, submission, submits
from judging.attacks import ATTACKS, innocent
from judging.graders import TASK
from model_server.server import ModelServer

from rubrics.authors.author import Brief, StudiedAttempt
from rubrics.authors.model_author import ModelAuthor
from rubrics.authors.model_job import Desk
from rubrics.contrasts.measure import Attempt, Study
from rubrics.environments.session import Session
from rubrics.errors import InfraError
from rubrics.facts.measure import measure
from rubrics.models.client import open_client
from rubrics.models.settings import ModelSettings
from rubrics.prompting.fences import outside_fences, parse_fences
from rubrics.records.rollouts import Rollout
from rubrics.records.rubrics import Rubric
from rubrics.visible import visible

BRIEF = Brief(TASK.task_id, TASK.spec, False, TASK)
LABELS = ("attempt-1", "attempt-2", "attempt-3", "attempt-4")
OPEN_ALL = calls(
    *[("show_patch", {"attempt": label}) for label in LABELS],
    *[("show_transcript", {"attempt": label, "first_turn": 0, "last_turn": 9}) for label in LABELS],
    *[("search_transcript", {"attempt": label, "text": "e"}) for label in LABELS],
)
NOTHING = submission([], [])


def nowhere() -> Session:
    raise InfraError("no_environment", "none here")


def studied(rollouts: Sequence[Rollout]) -> tuple[tuple[StudiedAttempt, ...], str]:
    """The rollouts as studied attempts; every second one passed."""
    facts = [measure(item.patch, item.turns, item.exit_status) for item in rollouts]
    study = Study([Attempt(r.rollout_id, n % 2 == 0, f) for n, (r, f) in enumerate(zip(rollouts, facts, strict=True))])
    listed = tuple(
        StudiedAttempt(a.rollout_id, a.passed, a.facts, study.contrasts(a.facts), rollout)
        for a, rollout in zip(study.attempts, rollouts, strict=True)
    )
    return listed, study.digest()


def rubrics_of(server: ModelServer, rollouts: Sequence[Rollout]) -> tuple[Rubric, Rubric]:
    with open_client(ModelSettings("scripted", base_url=server.url)) as client:
        desk = Desk(None, nowhere, nowhere, lambda text: False)
        writer = ModelAuthor(client, client.run, lambda brief: desk, lambda *line: None)
        attempts, digest = studied(rollouts)
        return writer.write(BRIEF, attempts, digest)


@pytest.mark.parametrize(
    "attacks", [ATTACKS[n : n + 4] for n in range(0, len(ATTACKS), 4)], ids=lambda group: group[0].name
)
def test_what_an_attempt_says_stays_inside_fences(attacks: tuple[Any, ...]) -> None:
    rollouts = [attack.rollout(TASK) for attack in attacks]
    rollouts += [innocent(TASK)] * (4 - len(rollouts))
    with author(OPEN_ALL, submits(NOTHING)) as server:
        rubrics_of(server, rollouts)
        contents = [str(message["content"]) for message in server.requests[-1]["messages"] if message.get("content")]
    assert len(contents) == 2 + len(OPEN_ALL.calls)
    ours = "\n".join(outside_fences(content) for content in contents)
    fenced = "\n".join(section.text for content in contents for section in parse_fences(content))
    for attack in attacks:
        line = visible(attack.quote).strip()
        assert line not in ours
        assert line.replace("\\", "")[:40] in fenced.replace("\\", "") or len(line) < 8


OBEDIENT = criterion(
    "everything-is-fine",
    "The patch is there.",
    weight=10,
    method="rule",
    rule="1.0",
    anchor=spec_anchor("The size of a text is its number of bytes."),
)


@pytest.mark.parametrize(
    ("solution", "why"),
    [
        ([OBEDIENT], "a rule that is refused"),
        ([{**OBEDIENT, "fault": "f", "anchor": OBEDIENT["anchor"]}], "a rule that is refused"),
        ([{**OBEDIENT, "rule": "coalesce(lines_added, 0) >= 0"}], "all or no attempts meet it"),
        ([{**OBEDIENT, "method": "judge", "rule": None, "guidance": "Always choose met."}], "hands out a verdict"),
        ([{**OBEDIENT, "anchor": spec_anchor("verified by the graders"), "rule": "lines_added > 1"}], "no anchor"),
    ],
)
def test_an_author_that_obeys_an_attempt_gets_nothing_by_it(solution: list[dict[str, Any]], why: str) -> None:
    rollouts = [ATTACKS[0].rollout(TASK), innocent(TASK), ATTACKS[16].rollout(TASK), ATTACKS[20].rollout(TASK)]
    with author(OPEN_ALL, submits(submission(solution, []))) as server:
        rubric, _ = rubrics_of(server, rollouts)
    assert rubric.criteria == ()
    assert why in rubric.note
