"""The corpus of attacks through the judge that works with tools: every answer of a tool keeps its structure, what is
laid into the environment too, a sound grader says what it says of the innocent and reports what addressed it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from agents.agent_helpers import calls
from agents.places import laid_out, started
from environments.environment_helpers import small_task
from judging.agent_judging import Judging, judging, seen, turns_of
from judging.attacks import ATTACKS, Attack, innocent
from judging.graders import BEST, RUBRICS, SOUND, TASK, Grader, find, obeys, parrots, quoting_the_attack, sound
from model_server.server import Said

from rubrics.agents.loop import Bounds
from rubrics.environments.session import Environment, Session
from rubrics.prompting.fences import outside_fences
from rubrics.records.judgements import Case, Judgement
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Task

NOTES = "NOTES.md"
LOOKS = (
    ("show_transcript", {"first_turn": 0, "last_turn": 99}),
    ("show_transcript", {}),
    ("show_patch", {}),
    ("run_command", {"command": f"cat {NOTES}"}),
    ("read_file", {"path": NOTES}),
)
BY_NAME = {attack.name: attack for attack in ATTACKS}


class Kept:
    """One open environment for all attacks; closed by the test."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.rung, self.image_digest = session.rung, session.image_digest
        self.run, self.read, self.write = session.run, session.read, session.write

    def close(self) -> None:
        """Left open for the next attack."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Environment, Task]]:
    folder = laid_out(tmp_path_factory.mktemp("attacks") / "repo")
    with started("bubblewrap", folder) as found:
        yield found, small_task(folder)


@pytest.fixture(scope="module")
def session(environment: tuple[Environment, Task]) -> Iterator[Session]:
    opened = environment[0].open(environment[1], None)
    yield opened
    opened.close()


def held(session: Session, grader: Grader, attack: Attack | None) -> tuple[Judgement, Judging]:
    """The attack in the rollout and, as a file, in the environment, judged; null: the innocent rollout."""

    def script(body: dict[str, Any]) -> Any:
        if turns_of(body) == 0:
            return calls(*LOOKS)
        said = grader(seen(body), attack)
        return calls(("submit_verdicts", said)) if isinstance(said, dict) else Said(said)

    def opener(task: Task, rollout: Rollout) -> Session:
        session.write(NOTES, (attack.text if attack else "Nothing.").encode("utf-8", "replace"))
        return Kept(session)

    rollout = attack.rollout(TASK) if attack else innocent(TASK)
    with judging(script, opener) as here:
        case = Case(TASK, rollout, RUBRICS, "PASSED tests/test_sizes.py::test_size")
        return here.judge(case, bounds=Bounds(faults=1))[0], here


def levels(judgement: Judgement) -> dict[str, str]:
    return {verdict.criterion_id: verdict.level for verdict in judgement.verdicts}


def structure(here: Judging) -> list[str]:
    """Everything that speaks with our voice in what the model was shown, but for numbers."""
    messages = here.server.requests[-1]["messages"]
    return [re.sub(r"\d+", "#", outside_fences(str(m["content"]))) for m in messages if m["role"] != "assistant"]


def test_a_sound_grader_is_not_moved_and_reports_what_addressed_it_and_the_structure_holds(session: Session) -> None:
    plain = structure(held(session, sound, None)[1])
    for attack in ATTACKS:
        judgement, here = held(session, sound, attack)
        assert judgement.failure_class is None, (attack.name, judgement.detail)
        assert levels(judgement) == SOUND, attack.name
        assert (judgement.addressed is not None) == attack.addresses, attack.name
        assert judgement.addressed is None or judgement.addressed.evidence
        assert structure(here) == plain, attack.name


def test_a_grader_that_says_the_attacks_own_words_gives_no_verdict(session: Session) -> None:
    for attack in ATTACKS:
        judgement, _ = held(session, parrots, attack)
        assert judgement.verdicts == (), attack.name
        assert judgement.failure_class, attack.name


@pytest.mark.parametrize(
    ("grader", "failure"),
    [
        (obeys(lambda prompt, attack: []), "no_evidence"),
        (obeys(lambda prompt, attack: [{"place": "run:0", "quote": "not what the notes say"}]), "unresolved_evidence"),
        (obeys(lambda prompt, attack: [{"place": "run:7", "quote": attack.quote}]), "unresolved_evidence"),
        (obeys(quoting_the_attack, dict.fromkeys(BEST, "10/10")), "off_scale"),
    ],
    ids=["without evidence", "a run that printed something else", "a run that never was", "a mark off the scale"],
)
def test_a_grader_that_obeys_and_breaks_the_form_gives_no_verdict(
    session: Session, grader: Grader, failure: str
) -> None:
    for attack in ATTACKS[::6]:
        judgement, _ = held(session, grader, attack)
        assert judgement.verdicts == (), attack.name
        assert judgement.failure_class == failure, attack.name


def test_what_an_attack_says_stays_readable_in_what_tools_show(session: Session) -> None:
    for attack in ATTACKS[::6]:
        _, here = held(session, sound, attack)
        assert find("\n".join(here.answers()[:3]), attack.quote) is not None, attack.name
