"""Measures an attempt against the studied attempts of its task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from rubrics.contrasts.vocabulary import ASPECTS, CONTRASTS
from rubrics.digests import digest128
from rubrics.records.rubrics import Kind

CONTENT: Mapping[Kind, str] = {"solution": "patch_normal_digest", "behavior": "transcript_normal_digest"}
"""The fact that says whether two attempts are the same, per kind."""
FAULTS = (
    "exceptions_swallowed",
    "scratch_files_left",
    "build_artifacts_left",
    "test_lines_removed",
    "tests_weakened",
    "debug_prints_left",
    "disabled_checks",
    "source_files_changed",
)
"""Counts that a copy of a studied change may not raise; the guards of the builtin author name them."""
SIDES: Mapping[str, bool] = {"passing": True, "failing": False}
"""Whether the attempts of a side passed."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What contrasts need of one attempt: its facts and, for a studied one, whether it passed."""

    rollout_id: str
    passed: bool
    facts: Mapping[str, Any]


class Study:
    """The studied attempts of one task, ready to be compared with.

    An attempt is compared with those whose normalised content differs from its own, so that a studied
    one never meets itself and equal attempts get equal contrasts (design section 2). A change that holds
    every code line of a studied one and adds a fault is not compared with it either, while others of its
    side are left: else a spoilt copy would meet its model, which the model itself never does, and come
    out above it.
    """

    def __init__(self, attempts: Sequence[Attempt]) -> None:
        self.attempts = tuple(attempts)
        self._sets = [_sets(attempt.facts) for attempt in attempts]
        self._changed = [_changed_lines(attempt.facts) for attempt in attempts]

    def digest(self) -> str:
        """128-bit digest of what was studied: contents and outcomes, in an order of their own."""
        contents = sorted(
            (str(attempt.facts.get(CONTENT["solution"])), str(attempt.facts.get(CONTENT["behavior"])), attempt.passed)
            for attempt in self.attempts
        )
        return digest128(part for content in contents for part in map(str, content))

    def contrasts(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Every contrast of `CONTRASTS`; null where the attempt or its counterparts lack the evidence."""
        measured: dict[str, Any] = dict.fromkeys((fact.name for fact in CONTRASTS), None)
        own = _sets(facts)
        others = {(kind, side): self._others(kind, side, facts) for kind in CONTENT for side in SIDES}
        for aspect in ASPECTS:
            mine = own[aspect.name]
            if mine is None:
                continue
            for side in SIDES:
                theirs = [self._sets[i][aspect.name] for i in others[aspect.kind, side]]
                likenesses = [likeness(mine, other) for other in theirs if other is not None]
                measured[f"{aspect.name}_like_{side}"] = fmean(likenesses) if likenesses else None
        passing = {kind: others[kind, "passing"] for kind in CONTENT}
        measured["size_against_passing"] = self._against("lines_changed", facts, passing["solution"])
        measured["turns_against_passing"] = self._against("assistant_turns", facts, passing["behavior"])
        for aspect_name in ("files", "functions"):
            known = self._union(aspect_name, passing["solution"])
            measured[f"{aspect_name}_beyond_passing"] = _count_beyond(own[aspect_name], known)
        measured["needed_files_read"] = _share_of(own["reads"], self._union("files", passing["behavior"]))
        return measured

    def _others(self, kind: Kind, side: str, facts: Mapping[str, Any]) -> list[int]:
        """Places of the studied attempts of one side that the attempt is compared with."""
        own = facts.get(CONTENT[kind])
        found = [
            i
            for i, attempt in enumerate(self.attempts)
            if attempt.passed is SIDES[side] and (own is None or attempt.facts.get(CONTENT[kind]) != own)
        ]
        if kind == "behavior":
            return found
        changed = _changed_lines(facts)
        return [i for i in found if not self._spoils(changed, facts, i)] or found

    def _spoils(self, changed: frozenset[tuple[bool, str]], facts: Mapping[str, Any], i: int) -> bool:
        """Whether a change holds every code line of a studied one and adds a fault to it."""
        model = self.attempts[i].facts
        if not self._changed[i] or not self._changed[i] <= changed:
            return False
        rewritten = facts["lines_changed"] > 3 * model["lines_changed"] + 20
        return rewritten or any(facts[fault] > model[fault] for fault in FAULTS)

    def _against(self, fact: str, facts: Mapping[str, Any], attempts: Iterable[int]) -> float | None:
        values = [self.attempts[i].facts.get(fact) for i in attempts]
        known = [value for value in values if value is not None]
        own = facts.get(fact)
        if own is None or not known or median(known) == 0:
            return None
        return float(own / median(known))

    def _union(self, aspect: str, attempts: Iterable[int]) -> frozenset[str] | None:
        sets = [found for i in attempts if (found := self._sets[i][aspect]) is not None]
        return frozenset().union(*sets) if sets else None


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard index: |shared| / |all|; 1 when both are empty."""
    union = len(one | other)
    return len(one & other) / union if union else 1.0


def _sets(facts: Mapping[str, Any]) -> dict[str, frozenset[str] | None]:
    """The set of every aspect, by its name; null where the fact is."""
    return {aspect.name: _set(facts.get(aspect.fact), aspect.pieces) for aspect in ASPECTS}


def _changed_lines(facts: Mapping[str, Any]) -> frozenset[tuple[bool, str]]:
    """Code lines that a patch adds and removes, blanks collapsed."""
    sides = ((True, facts.get("lines_added_text")), (False, facts.get("lines_removed_text")))
    return frozenset((added, line) for added, lines in sides for line in lines or ())


def _set(values: Iterable[str] | None, size: int) -> frozenset[str] | None:
    if values is None:
        return None
    if not size:
        return frozenset(values)
    return frozenset(text[i : i + size] for text in values for i in range(max(1, len(text) - size + 1)))


def _count_beyond(own: frozenset[str] | None, passing: frozenset[str] | None) -> int | None:
    return None if own is None or passing is None else len(own - passing)


def _share_of(own: frozenset[str] | None, passing: frozenset[str] | None) -> float | None:
    return None if own is None or not passing else len(own & passing) / len(passing)
