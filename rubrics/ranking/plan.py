"""What is shown in which round: slices, orders and labels of a group, before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass

from rubrics.ranking.labels import labels
from rubrics.ranking.seeding import shuffled
from rubrics.ranking.slices import Slices, slices
from rubrics.ranking.williams import orders


@dataclass(frozen=True, slots=True)
class Showing:
    """One comparison: who is shown, in which order, under which labels."""

    round: int
    """From 0."""
    slice: int
    """From 0."""
    order: tuple[int, ...]
    """Candidates, first to last."""
    context: tuple[int, ...]
    """Failures, in an order of their own."""
    candidate_labels: tuple[str, ...]
    """By candidate, the same in all slices of the round."""
    context_labels: tuple[str, ...]
    """By failure."""


def plan(
    candidates: tuple[str, ...], failures: tuple[str, ...], rounds: int, *seed: str | int
) -> tuple[Slices, tuple[Showing, ...]]:
    """The slices of a group, and all its comparisons round by round.

    `candidates` and `failures` name the rollouts in sorted order, so that the plan depends on who takes part and on
    nothing else. Raises `ValueError` when they are not sorted.
    """
    if list(candidates) != sorted(candidates) or list(failures) != sorted(failures):
        raise ValueError("names of candidates and failures are not in order; sort them first")
    seeds = (*seed, *candidates)
    cut = slices(len(candidates), *seeds)
    rows = [orders(len(part), rounds, "slice", number, *seeds) for number, part in enumerate(cut.parts)]
    showings = []
    for number in range(rounds):
        words = labels(candidates + failures, "round", number, *seed)
        context = shuffled(range(len(failures)), "failures", number, *seeds)
        for place, part in enumerate(cut.parts):
            order = tuple(part[symbol] for symbol in rows[place][number])
            mine, theirs = words[: len(candidates)], words[len(candidates) :]
            showings.append(Showing(number, place, order, context, mine, theirs))
    return cut, tuple(showings)
