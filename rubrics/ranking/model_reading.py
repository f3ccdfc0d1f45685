"""A reply about a bout as marks: strictly read, its evidence resolved, its claims in keeping with each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rubrics.errors import UnusableReply
from rubrics.ranking.bouts import Bout
from rubrics.ranking.marks import Marks
from rubrics.records.judgements import Pointer, Ran
from rubrics.records.rankings import CHECKS
from rubrics.replies.evidence import Sources, labelled
from rubrics.replies.rankings import Ranked, Round, own, read_ranking


def reader(bout: Bout, runs: Sequence[Ran] = ()) -> Callable[[str], Round]:
    """What reads the replies to this bout; `runs` may grow. It raises `UnusableReply`."""
    sources = {item.label: Sources(item.rollout.patch, item.rollout.turns).wrong for item in bout.everyone}
    resolve = labelled(sources, Sources(None, None, runs).wrong)

    def read(text: str) -> Round:
        said = read_ranking(text, bout.labels, resolve)
        if said.no_clear_difference and len({_standing(item) for item in said.ranked}) > 1:
            raise UnusableReply(
                "contradiction",
                "no_clear_difference is true, but checks or flags differ; say false, or give all the same",
            )
        return said

    return read


def _standing(item: Ranked) -> tuple[Any, ...]:
    return (tuple(item.checks[name] for name in CHECKS), frozenset(item.flags))


def marks_of(said: Round) -> tuple[Marks, ...]:
    """The marks of each candidate, in the order of the labels."""
    return tuple(_marks(item) for item in said.ranked)


def _marks(item: Ranked) -> Marks:
    checks = tuple(item.checks[name] for name in CHECKS)
    evidence: dict[str, Any] = {"reason": item.reason, "checks": _pointers(item.label, item.evidence)}
    evidence |= {name: _pointers(item.label, pointers) for name, pointers in item.flags.items()}
    return Marks(checks, frozenset(item.flags), evidence)


def _pointers(label: str, evidence: Sequence[Pointer]) -> list[dict[str, str]]:
    """The candidate's own evidence as plain JSON; places without the label, which means nothing after the round."""
    mine = [item for item in evidence if own(label, (item,))]
    return [{"place": item.place.removeprefix(f"{label}:"), "quote": item.quote} for item in mine]
