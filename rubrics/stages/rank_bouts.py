"""From a group's ids to what is shown in each round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rubrics.ranking.bouts import Bout, Candidate
from rubrics.ranking.plan import Showing, plan
from rubrics.ranking.slices import Slices
from rubrics.records import transcripts
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Task
from rubrics.stages.judging import statuses
from rubrics.stages.rank_groups import Entrant, Group, entrants
from rubrics.stages.task_records import rollout_records
from rubrics.store.store import Store

_TURNS = """
SELECT rollout_id, turns FROM (SELECT * FROM rollouts WHERE rollout_id IN (SELECT unnest($ids)))
JOIN transcripts USING (transcript_digest, task_id)
"""
_TESTS = """
SELECT chosen_outcomes.rollout_id, outcomes.tests FROM chosen_outcomes JOIN outcomes USING (rollout_id, source)
WHERE chosen_outcomes.rollout_id IN (SELECT unnest($ids))
"""


@dataclass(frozen=True, slots=True)
class Planned:
    """A group and all its comparisons."""

    group: Group
    entrants: tuple[Entrant, ...]
    cut: Slices
    bouts: tuple[tuple[Showing, Bout], ...]


def planned(store: Store, group: Group, task: Task | None, rounds: int, seed: int) -> Planned | str:
    """The comparisons of a group, or why there are none: a key of `rank_groups.LEFT_OUT`."""
    if task is None or not (task.spec or "").strip():
        return "group_without_spec"
    ids = [*group.passes, *group.failures]
    rollouts, tests = _rollouts(store, ids), _tests(store, ids)
    passes = [rollouts[name] for name in group.passes]
    if any(rollout.patch is None for rollout in passes):
        return "group_pass_without_patch"
    found = tuple(entrants(passes))
    if len(found) < 2:
        return "group_same_passes"
    names = tuple(item.rollout.rollout_id for item in found)
    cut, showings = plan(names, group.failures, rounds, group.task_id, group.group_id, seed)
    failures = [rollouts[name] for name in group.failures]
    bouts = tuple((item, _bout(task, item, [each.rollout for each in found], failures, tests)) for item in showings)
    return Planned(group, found, cut, bouts)


def _bout(
    task: Task, showing: Showing, passes: Sequence[Rollout], failures: Sequence[Rollout], tests: dict[str, str | None]
) -> Bout:
    def shown(rollout: Rollout, label: str) -> Candidate:
        return Candidate(label, rollout, tests.get(rollout.rollout_id))

    candidates = tuple(shown(passes[place], showing.candidate_labels[place]) for place in showing.order)
    context = tuple(shown(failures[place], showing.context_labels[place]) for place in showing.context)
    return Bout(task, candidates, context, showing.round, showing.slice)


def _rollouts(store: Store, ids: list[str]) -> dict[str, Rollout]:
    turns = {row["rollout_id"]: row["turns"] for row in store.query(_TURNS, {"ids": ids}).to_pylist()}
    found = {}
    for rollout in rollout_records(store, ids):
        text = turns.get(rollout.rollout_id)
        found[rollout.rollout_id] = replace(rollout, turns=None if text is None else transcripts.from_json(text))
    return found


def _tests(store: Store, ids: list[str]) -> dict[str, str | None]:
    rows = store.query(_TESTS, {"ids": ids}).to_pylist()
    return {row["rollout_id"]: statuses(row["tests"]) for row in rows}
