"""Which groups are to be ranked, and who takes part: routes as the reward engine tells them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rubrics.digests import digest128
from rubrics.facts.diffs import parse_patch
from rubrics.facts.normal import normal_digest
from rubrics.records.rollouts import Rollout
from rubrics.rewards.config import RewardConfig
from rubrics.rewards.engine import EngineInputs, compute
from rubrics.rewards.hacks import CONFIRMED, HACKS, passes_after_reset
from rubrics.rewards.product import OUTCOMES, UNKNOWN, known_outcome
from rubrics.rewards.ranking import Rankings
from rubrics.rewards.routing import GAR
from rubrics.store.arrays import codes, run_starts
from rubrics.store.store import Store

_ROWS = """
SELECT rollouts.task_id, rollouts.group_id, rollouts.rollout_id, chosen_outcomes.outcome, audit_verdicts.hack
FROM rollouts
JOIN chosen_outcomes ON chosen_outcomes.rollout_id = rollouts.rollout_id
LEFT JOIN audit_verdicts ON audit_verdicts.rollout_id = rollouts.rollout_id
WHERE rollouts.task_id IN (SELECT unnest($tasks)) AND ({})
ORDER BY rollouts.task_id, rollouts.group_id, rollouts.rollout_id
"""
_HARMLESS = frozenset({"leading_newline", "crlf", "fenced", "trailing_context", "prose"})
"""What `parse_patch` notes of texts around a diff; with any other note, some of it may be in no file."""
LEFT_OUT = {
    "group_not_gar": "groups of another route: nothing to rank",
    "group_single_pass": "groups with one pass: its advantage is its own whatever a ranking says",
    "group_same_passes": "groups whose passes have equal patches and transcripts: they stay equal",
    "group_pass_without_patch": "groups with a pass whose patch is not known: it cannot be compared",
    "group_without_spec": "groups of tasks without a text: nobody knows what was asked",
}
"""Why a group is not ranked; its advantages stay plain."""


@dataclass(frozen=True, slots=True)
class Group:
    """A group of route gar. Confirmed hacks and rollouts of unknown outcome take no part."""

    task_id: str
    group_id: str
    passes: tuple[str, ...]
    """Ids of the passing rollouts, sorted."""
    failures: tuple[str, ...]
    """Ids of the failed and truncated ones, sorted."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """What is shown once: a rollout, and the ids of all that have the same patch and transcript."""

    rollout: Rollout
    ids: tuple[str, ...]
    patch_digest: str
    """Equal for patches that differ in nothing that matters."""


def groups_to_rank(
    store: Store, task_ids: Sequence[str], config: RewardConfig, drop_duplicates: bool
) -> tuple[list[Group], Counter[str]]:
    """The groups of route gar with two passes or more, and how many others there are, by reason."""
    where = "duplicate_of IS NULL" if drop_duplicates else "true"
    table = store.query(_ROWS.format(where), {"tasks": list(task_ids)})
    if not table.num_rows:
        return [], Counter()
    outcome, hack = codes(table, "outcome", OUTCOMES), codes(table, "hack", HACKS)
    outcome = np.where(outcome < 0, np.int8(UNKNOWN), outcome)
    starts = run_starts(table, "task_id", "group_id")
    route = _routes(table, starts, outcome, hack, config)
    passes = passes_after_reset(outcome, hack)
    failures = known_outcome(outcome) & ~passes & (hack != CONFIRMED)
    ids = np.array(table.column("rollout_id").to_pylist(), dtype=object)
    found, left_out = [], Counter[str]()
    for start, stop in zip(starts, [*starts[1:], table.num_rows], strict=True):
        own = slice(start, stop)
        row = {name: table.column(name)[int(start)].as_py() for name in ("task_id", "group_id")}
        if route[start] != GAR:
            left_out["group_not_gar"] += 1
        elif passes[own].sum() < 2:
            left_out["group_single_pass"] += 1
        else:
            found.append(Group(**row, passes=tuple(ids[own][passes[own]]), failures=tuple(ids[own][failures[own]])))
    return found, left_out


def _routes(table: Any, starts: Any, outcome: Any, hack: Any, config: RewardConfig) -> Any:
    """The engine's own word on the route of each row; it reads outcomes and hacks for it, and nothing else."""
    unknown = np.full(table.num_rows, np.nan)
    inputs = EngineInputs(
        group_starts=starts,
        task_starts=run_starts(table, "task_id"),
        outcome=outcome,
        hack=hack,
        factors=(),
        lengths=tuple(unknown for _ in config.length.measures),
        rankings=Rankings.empty(),
        repeat_spread=unknown,
    )
    return compute(inputs, config).route


def entrants(rollouts: Iterable[Rollout]) -> list[Entrant]:
    """One per content, sorted by id; rollouts need a patch. The first id of each content stands for all of it."""
    alike: dict[str, list[tuple[Rollout, str]]] = {}
    for rollout in sorted(rollouts, key=lambda item: item.rollout_id):
        patch = _patch_digest(rollout.patch or "")
        alike.setdefault(digest128([patch, rollout.transcript_digest]), []).append((rollout, patch))
    return [Entrant(same[0][0], tuple(item.rollout_id for item, _ in same), same[0][1]) for same in alike.values()]


def _patch_digest(text: str) -> str:
    patch = parse_patch(text)
    return normal_digest(patch) if _HARMLESS.issuperset(patch.malformed) else digest128([text])
