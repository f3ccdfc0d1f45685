"""The embedded author: contrasts the studied attempts and writes rule criteria that separate them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rubrics.authors.anchors import find_anchor
from rubrics.authors.author import Brief, StudiedAttempt
from rubrics.authors.candidates import Candidate, candidates
from rubrics.authors.guards import guards
from rubrics.authors.trial import Column, Trial, as_model, same, tried
from rubrics.contrasts.measure import CONTENT
from rubrics.records.rubrics import Criterion, Kind, Rubric

NAME = "builtin"
GUARDS_WEIGH = 0.15
"""Share of the guards in a solution rubric that holds mined criteria too: style carries little signal (method 6)."""
Values = list[tuple[float | None, ...]]
Evaluate = Callable[[Sequence[str], Sequence[StudiedAttempt]], Values]
"""(rules, studied attempts) -> one tuple per attempt, one value per rule."""


class BuiltinAuthor:
    """Keeps a mined criterion only if it tells the studied passes from the failures, or names the fault it guards
    against, and repeats no other; a guard unless passing attempts contradict it. Without both passes and failures
    among the studied attempts it mines nothing."""

    name = NAME

    def __init__(self, evaluate: Evaluate) -> None:
        self._evaluate = evaluate

    def write(self, brief: Brief, studied: tuple[StudiedAttempt, ...], study_digest: str) -> tuple[Rubric, Rubric]:
        solution, behavior = (self._rubric(kind, brief, studied, study_digest) for kind in ("solution", "behavior"))
        return solution, behavior

    def _rubric(self, kind: Kind, brief: Brief, studied: tuple[StudiedAttempt, ...], digest: str) -> Rubric:
        able = tuple(attempt for attempt in studied if attempt.facts.get(CONTENT[kind]) is not None)
        mined = self._mined(kind, brief, _undisputed(kind, able))
        kept = self._guards(kind, able, mined) if able else []
        note = _note(kind, brief, studied, able, bool(mined), bool(kept))
        ids = tuple(attempt.rollout_id for attempt in studied)
        return Rubric(brief.task_id, kind, (*mined, *kept), NAME, ids, digest, note)

    def _mined(self, kind: Kind, brief: Brief, able: tuple[StudiedAttempt, ...]) -> list[Criterion]:
        found = candidates(kind, able)
        rules = [item.criterion.rule or "" for item in found]
        both = self._columns(rules, [*map(as_model, able), *able])
        models, apart = [column[: len(able)] for column in both], [column[len(able) :] for column in both]
        passed = [attempt.passed for attempt in able]
        kept: list[Criterion] = []
        columns: list[Column] = []
        for candidate, column, alone in zip(found, models, apart, strict=True):
            separates = tried(column, passed).discriminates()
            repeats = any(same(column, other) for other in columns) or any(
                item.id == candidate.criterion.id for item in kept
            )
            if (separates or candidate.fault) and not repeats:
                columns.append(column)
                fault = None if separates else candidate.fault
                kept.append(_with_reasons(candidate, fault, tried(alone, passed), brief, able))
        return kept

    def _guards(self, kind: Kind, able: tuple[StudiedAttempt, ...], mined: list[Criterion]) -> list[Criterion]:
        table = guards(kind)
        items = [guard.criterion() for guard in table]
        passed = [attempt.passed for attempt in able]
        columns = self._columns([item.rule or "" for item in items], able)
        trials = [tried(column, passed) for column in columns]
        kept = [
            (item, trial)
            for guard, item, trial in zip(table, items, trials, strict=True)
            if guard.always or not trial.contradicted()
        ]
        share = _guard_share(mined, [item for item, _ in kept]) if kind == "solution" else 1.0
        seen = _evidence(able)
        return [
            replace(item, weight=round(item.weight * share, 3), evidence=seen, fared=trial.words())
            for item, trial in kept
        ]

    def _columns(self, rules: Sequence[str], attempts: Sequence[StudiedAttempt]) -> list[Column]:
        """One column of values per rule."""
        rows = self._evaluate(rules, attempts)
        return [[row[index] for row in rows] for index in range(len(rules))]


def _guard_share(mined: Sequence[Criterion], kept: Sequence[Criterion]) -> float:
    """What the guards' weights are multiplied by: beside mined criteria they weigh `GUARDS_WEIGH` in all."""
    if not mined or not kept:
        return 1.0
    total = sum(item.weight for item in mined)
    return GUARDS_WEIGH / (1 - GUARDS_WEIGH) * total / sum(item.weight for item in kept)


def _undisputed(kind: Kind, able: tuple[StudiedAttempt, ...]) -> tuple[StudiedAttempt, ...]:
    """The attempts whose content did not both pass and fail: such a content tells nothing of either."""
    said: dict[object, set[bool]] = {}
    for attempt in able:
        said.setdefault(attempt.facts[CONTENT[kind]], set()).add(attempt.passed)
    return tuple(attempt for attempt in able if len(said[attempt.facts[CONTENT[kind]]]) == 1)


def _evidence(able: Sequence[StudiedAttempt]) -> tuple[str, ...]:
    """The beginnings of the studied attempts' ids; `rubrics show` takes them."""
    return tuple(attempt.rollout_id[:12] for attempt in able)


def _with_reasons(
    candidate: Candidate, fault: str | None, trial: Trial, brief: Brief, able: Sequence[StudiedAttempt]
) -> Criterion:
    return replace(
        candidate.criterion,
        fault=fault,
        anchor=find_anchor(brief.spec, candidate.names),
        evidence=_evidence(able),
        fared=trial.words(),
    )


def _note(
    kind: Kind,
    brief: Brief,
    studied: Sequence[StudiedAttempt],
    able: Sequence[StudiedAttempt],
    mined: bool,
    guarded: bool,
) -> str:
    """What the rubric rests on and what it lacked, in plain sentences."""
    passes = sum(attempt.passed for attempt in able)
    lacking = "patch" if kind == "solution" else "transcript"
    said = [f"Studied {len(able)} attempts with a {lacking}: {passes} passing, {len(able) - passes} not."]
    if len(able) < len(studied):
        said.append(f"{len(studied) - len(able)} more have no {lacking}.")
    if not brief.spec:
        said.append("No spec was given: nothing is anchored in one.")
    if not brief.has_repository:
        said.append("No repository was given: it rests on spec and attempts alone.")
    if not able:
        return " ".join([*said, "It has no criteria and is no factor of the reward."])
    if passes in (0, len(able)):
        said.append("The studied attempts hold no contrast, so none is invented: guard criteria only.")
    elif not mined:
        said.append("Nothing mined from the attempts told passes from failures: guard criteria only.")
    if not mined and not guarded:
        said.append("No guard holds either: it has no criteria and is no factor of the reward.")
    return " ".join(said)
