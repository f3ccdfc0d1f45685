"""A draft that was linted and tried, made into a rubric that says what was dropped, and why. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rubrics.authors.author import Brief, StudiedAttempt
from rubrics.authors.lint_records import Finding
from rubrics.contrasts.measure import CONTENT
from rubrics.records.rubrics import Criterion, Kind, Rubric

WHY = {
    "short": "too long", "atomic": "more than one demand", "checkable": "not checkable",
    "neutral": "hands out a verdict", "countable": "countable, and no rule", "side": "of the other rubric",
    "outcome": "about the tests", "anchor": "no anchor that stands", "accident": "an accident of one solution",
    "copy": "a copy of an attempt", "sealed": "too close to what is sealed", "rule": "a rule that is refused",
    "method": "a method that cannot be used", "scale": "a scale that cannot be used",
    "weight": "a weight that cannot be used", "id": "an id that cannot be used", "unique": "an id used twice",
    "duplicate": "said before", "share": "decides alone", "guards": "guards weigh too much", "many": "one too many",
    "null": "a rule that says null", "range": "a rule that leaves [0, 1]", "flat": "all or no attempts meet it",
    "contradicted": "passing attempts contradict it, the spec does not ask for it",
    "twin": "the attempts do not tell it from another",
}  # fmt: skip
"""Rules of lint and trial, as a note says them."""
NAMED = 8
"""Dropped criteria that a note names; the census has all."""
OWN_WORDS = 400
"""Characters of the author's own note that are kept."""


@dataclass(frozen=True, slots=True)
class Examined:
    """One criterion of the last draft, and what lint and trial say against it."""

    criterion: Criterion
    findings: tuple[Finding, ...]

    @property
    def why(self) -> str:
        """Why it is dropped, in a few words."""
        return ", ".join(dict.fromkeys(WHY[finding.rule] for finding in self.findings))


@dataclass(frozen=True, slots=True)
class Written:
    """What is said of how the rubrics were written."""

    author: str
    entered: bool
    """Its author worked in the task's environment."""
    own_note: str


def finished(
    kind: Kind, brief: Brief, studied: Sequence[StudiedAttempt], digest: str, examined: Sequence[Examined], how: Written
) -> Rubric:
    """The rubric of the criteria that nothing is said against."""
    kept = tuple(item.criterion for item in examined if not item.findings)
    dropped = [item for item in examined if item.findings]
    note = " ".join(_note(kind, brief, studied, bool(kept), dropped, how))
    ids = tuple(attempt.rollout_id for attempt in studied)
    return Rubric(brief.task_id, kind, kept, how.author, ids, digest, note)


def _note(
    kind: Kind, brief: Brief, studied: Sequence[StudiedAttempt], kept: bool, dropped: Sequence[Examined], how: Written
) -> list[str]:
    able = [attempt for attempt in studied if attempt.facts.get(CONTENT[kind]) is not None]
    passes = sum(attempt.passed for attempt in able)
    lacking = "patch" if kind == "solution" else "transcript"
    said = [f"Studied {len(able)} attempts with a {lacking}: {passes} passing, {len(able) - passes} not."]
    if not brief.spec:
        said.append("No spec was given: nothing is anchored in one.")
    if not how.entered:
        said.append("The repository was not read: it rests on spec and attempts alone.")
    if able and passes in (0, len(able)):
        said.append("The studied attempts hold no contrast between passes and failures.")
    if dropped:
        named = ", ".join(f"{item.criterion.id} ({item.why})" for item in dropped[:NAMED])
        more = f", and {len(dropped) - NAMED} more" if len(dropped) > NAMED else ""
        said.append(f"Dropped after one revision: {named}{more}.")
    if not kept:
        said.append("It has no criteria and is no factor of the reward.")
    if how.own_note:
        said.append(f"Its author says: {how.own_note[:OWN_WORDS]}")
    return said
