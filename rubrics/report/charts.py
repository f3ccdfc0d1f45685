"""Small histograms of rewards: one column per step of the reward, failures below, passes on top. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chart:
    """Two SVG paths in a drawing of `width` by `height`."""

    passes: str
    fails: str
    width: int
    height: int
    words: str
    """The same for those who do not see it."""


def histogram(rewards: Iterable[tuple[float, bool]], steps: int, width: int, height: int, unit: float) -> Chart:
    """Columns over rewards from 0 to 1.

    `unit` is the height of one rollout where all fit; higher columns shrink all alike.
    """
    listed = list(rewards)
    columns = [[0, 0] for _ in range(steps)]
    for reward, passed in listed:
        columns[min(steps - 1, max(0, int(reward * steps)))][passed] += 1
    one = min(unit, height / max(1, max(map(sum, columns))))
    step = width / steps
    fails, passes = [], []
    for place, (failed, good) in enumerate(columns):
        if failed:
            fails.append(_bar(place * step, step - 1, height, failed * one))
        if good:
            passes.append(_bar(place * step, step - 1, height - failed * one, good * one))
    return Chart("".join(passes), "".join(fails), width, height, _words(listed))


def _bar(x: float, width: float, floor: float, height: float) -> str:
    return f"M{x:g} {floor:.5g}v{-height:.4g}h{width:g}v{height:.4g}z"


def _words(rewards: list[tuple[float, bool]]) -> str:
    if not rewards:
        return "no rewards"
    passes = [reward for reward, passed in rewards if passed]
    spread = f", passes from {min(passes):.3f} to {max(passes):.3f}" if passes else ""
    return f"{len(rewards)} rewards from 0 to 1: {len(passes)} passed{spread}, {len(rewards) - len(passes)} not passed"
