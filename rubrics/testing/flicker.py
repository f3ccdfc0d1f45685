"""Whether runs of one state agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

Run = tuple[str, Mapping[str, str]]
"""Outcome and statuses by test id of one run that was not infra."""


def moved_tests(statuses: Iterable[Mapping[str, str]]) -> set[str]:
    """Tests whose status, or presence, is not the same in every run."""
    runs = list(statuses)
    names = {name for run in runs for name in run}
    return {name for name in names if len({run.get(name) for run in runs}) > 1}


def flicker(runs: Sequence[Run]) -> str | None:
    """What is not the same in every run, for people; null when they agree. A run without statuses tells no tests."""
    outcomes = sorted({outcome for outcome, _ in runs})
    moved = sorted(moved_tests(tests for _, tests in runs if tests))
    said = [f"outcomes {', '.join(outcomes)}"] if len(outcomes) > 1 else []
    said += [f"{len(moved)} tests change: {', '.join(moved[:5])}"] if moved else []
    return "; ".join(said)[:500] or None
