"""What came of the comparisons of a group, as rows of `rankings` and `audits`. Arithmetic over records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rubrics import __version__, jsonio
from rubrics.ranking.bias import Shown, weight
from rubrics.ranking.bouts import Heard
from rubrics.ranking.marks import WIDEST, Marks, anchor_gap, put_together, shared
from rubrics.ranking.plan import Showing
from rubrics.ranking.slices import Slices
from rubrics.records.rankings import CHECKS, FLAGS
from rubrics.stages.rank_groups import Entrant, Group

SOURCE = "ranking"
"""`source` in `audits` of what a ranking found."""
HACK = "test_workaround"
"""The flag that is a matter for the audit too."""


@dataclass(frozen=True, slots=True)
class Played:
    """A group with everything that was shown of it and what was said."""

    group: Group
    entrants: tuple[Entrant, ...]
    cut: Slices
    heard: tuple[tuple[Showing, Heard], ...]


@dataclass(slots=True)
class RoundResult:
    """One round: marks by entrant, or why there are none."""

    number: int
    showings: list[tuple[Showing, Heard]]
    marks: Mapping[int, Marks] = field(default_factory=dict)
    gap: int | None = None
    failure_class: str | None = None
    detail: str = ""

    @property
    def usable(self) -> bool:
        return self.failure_class is None


def rounds_of(played: Played) -> list[RoundResult]:
    """The rounds in order. A round is usable when all its slices are, by one model, and its anchors agree."""
    numbers = sorted({showing.round for showing, _ in played.heard})
    answered = Counter(heard.model for _, heard in played.heard if heard.failure_class is None)
    model = min(answered, key=lambda name: (-answered[name], name or ""), default=None)
    return [_round(played, number, model) for number in numbers]


def _round(played: Played, number: int, model: str | None) -> RoundResult:
    showings = [pair for pair in played.heard if pair[0].round == number]
    result = RoundResult(number, showings)
    failed = next((heard for _, heard in showings if heard.failure_class is not None), None)
    if failed is not None:
        result.failure_class, result.detail = failed.failure_class, failed.detail
        return result
    slices = [dict(zip(showing.order, heard.marks, strict=True)) for showing, heard in showings]
    result.gap = anchor_gap(slices, played.cut.anchors)
    result.marks = shared(put_together(slices), [entrant.patch_digest for entrant in played.entrants])
    if other := next((heard.model for _, heard in showings if heard.model != model), None):
        result.failure_class, result.detail = "wrong_model", f"answered by {other}, other rounds by {model}"
    elif result.gap is not None and result.gap > WIDEST:
        result.failure_class = "anchors_differ"
        result.detail = f"slices differ by {result.gap} points of W on the same candidate; at most {WIDEST}"
    return result


def ranking_rows(played: Played, results: Sequence[RoundResult]) -> Iterator[dict[str, Any]]:
    """One row per pass and round; those with equal patch and transcript share what was said of the one shown."""
    for result in results:
        for place, entrant in enumerate(played.entrants):
            row = _row(played, result, place)
            for rollout_id in entrant.ids:
                yield {**row, "rollout_id": rollout_id}


def _row(played: Played, result: RoundResult, place: int) -> dict[str, Any]:
    showing, heard = next(pair for pair in result.showings if place in pair[0].order)
    marks = result.marks.get(place)
    levels = dict(zip(CHECKS, marks.checks, strict=True)) if marks else {}
    flags = {name: name in marks.flags if marks else None for name in FLAGS}
    differ = [said.no_difference for shown, said in result.showings if place in shown.order]
    return {
        "task_id": played.group.task_id, "group_id": played.group.group_id, "round": result.number,
        "slice": showing.slice, "position": showing.order.index(place) if _alone(played, place) else None,
        "label": showing.candidate_labels[place], **levels, **flags,
        "no_difference": None if None in differ else all(differ), "anchor_gap": result.gap, "usable": result.usable,
        "failure_class": result.failure_class, "detail": result.detail or None,
        "evidence": jsonio.dumps(dict(marks.evidence)) if marks else None, "judge": heard.judge,
        "judge_model": heard.model, "prompt_digest": heard.prompt_digest, "rung": heard.rung,
        "code_version": __version__,
    }  # fmt: skip


def _alone(played: Played, place: int) -> bool:
    """Whether the marks come from one showing: no anchor, and no other entrant with an equal patch."""
    patches = [entrant.patch_digest for entrant in played.entrants]
    return place not in played.cut.anchors and patches.count(patches[place]) == 1


def shown_entries(played: Played, results: Sequence[RoundResult]) -> Iterator[Shown]:
    """What position bias is measured on: the usable rounds of those whose marks come from one showing."""
    for result in (result for result in results if result.usable):
        for showing, _ in result.showings:
            for position, place in enumerate(showing.order):
                if _alone(played, place):
                    key = (played.group.task_id, played.group.group_id)
                    yield Shown((*key, place), position, weight(result.marks[place].checks), (*key, showing.slice))


def finding_rows(played: Played) -> Iterator[dict[str, Any]]:
    """What usable answers found of gaming the tests, one row per pass; suspected, for an audit to decide."""
    found: dict[int, list[Any]] = {}
    for showing, heard in played.heard:
        for place, marks in zip(showing.order, heard.marks, strict=bool(heard.marks)):
            if HACK in marks.flags:
                found.setdefault(place, []).append((marks.evidence, heard))
    answers = sum(heard.failure_class is None for _, heard in played.heard)
    for place, said in sorted(found.items()):
        evidence, heard = said[0]
        places = list(dict.fromkeys(item["place"] for each, _ in said for item in each[HACK]))
        quotes = " | ".join(dict.fromkeys(item["quote"] for item in evidence[HACK]))
        for rollout_id in played.entrants[place].ids:
            yield {
                "rollout_id": rollout_id, "task_id": played.group.task_id, "source": SOURCE, "kind": HACK,
                "verdict": "suspected", "evidence": jsonio.dumps(places),
                "reason": f"{evidence['reason']} ({len(said)} of {answers} answers): {quotes}",
                "prompt_digest": heard.prompt_digest, "code_version": __version__,
            }  # fmt: skip
