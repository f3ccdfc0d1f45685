"""The whole engine over a chunk of whole groups, in the order of method 2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rubrics.rewards.arrays import Bools, Floats, Ints, Longs
from rubrics.rewards.centring import centre
from rubrics.rewards.config import QualityConfig, RewardConfig
from rubrics.rewards.filtering import KEPT, drop_reasons
from rubrics.rewards.hacks import only_passes, passes_after_reset
from rubrics.rewards.length import shorten
from rubrics.rewards.noise import within_noise
from rubrics.rewards.product import Factor, known_outcome, product
from rubrics.rewards.ranking import Rankings, aggregate
from rubrics.rewards.redistribution import redistribute, reward_twin
from rubrics.rewards.routing import GAR, GRS, routes
from rubrics.rewards.segments import Segments
from rubrics.rewards.tiers import grade


@dataclass(frozen=True, slots=True)
class EngineInputs:
    """Rows of whole groups (and of whole tasks, when routes are per task); a group's rows are neighbours.

    One value per row where nothing else is said; NaN and -1 stand for null.
    """

    group_starts: Longs
    """First row of each group, ascending from 0."""
    task_starts: Longs
    """First row of each task; each is the start of a group."""
    outcome: Ints
    """Index into `product.OUTCOMES`."""
    hack: Ints
    """Index into `hacks.HACKS`; -1: not audited."""
    factors: tuple[Factor, ...]
    """For each factor of the configuration: where it applies, and the scores."""
    lengths: tuple[Floats, ...]
    """One array per measure of the configuration."""
    rankings: Rankings
    repeat_spread: Floats
    """max - min of the rollout's score over a judge's repeats; NaN without repeats."""


@dataclass(frozen=True, slots=True)
class EngineOutputs:
    """One value per row, named as the columns of `rewards`; NaN and -1 stand for null."""

    status: Ints
    test: Floats
    hack: Ints
    route: Ints
    reward_raw: Floats
    length_penalty: Floats
    length_floored: Ints
    reward: Floats
    group_size: Longs
    group_valid: Longs
    group_mean: Floats
    kept: Bools
    drop_reason: Ints
    advantage_base: Floats
    ranking: Ints
    tier: Ints
    rank: Longs
    quality_factor: Floats
    scale_uncapped: Floats
    scale: Floats
    capped: Ints
    mass_before: Floats
    mass_after: Floats
    within_noise: Ints
    advantage: Floats
    reward_star: Floats


@dataclass(frozen=True, slots=True)
class _Ranked:
    state: Ints
    tier: Ints
    rank: Longs
    factor: Floats


def compute(inputs: EngineInputs, config: RewardConfig) -> EngineOutputs:
    """Every number of the reward table."""
    groups = Segments.of(inputs.group_starts, len(inputs.outcome))
    passes = passes_after_reset(inputs.outcome, inputs.hack)
    route = _routes(groups, inputs, passes, config)
    of_row = groups.each(route)
    raw = product(inputs.outcome, passes, inputs.factors, of_row == GRS)
    passes &= raw.valid
    final = shorten(groups, raw.reward, passes, raw.valid, inputs.lengths, config.length)
    drop = drop_reasons(groups, final.reward, raw.valid, passes, route)
    base = centre(groups, final.reward, raw.valid, config.estimator, config.std_eps)
    ranked = _rank(groups, inputs.rankings, passes, route == GAR, config.quality)
    active = (drop == KEPT) & (route == GAR)
    moved = redistribute(groups, base.advantage, passes, active, ranked.factor, config.gar.cap)
    star = np.where((of_row == GAR), reward_twin(groups, moved.shifted, base.mean, base.factor), final.reward)
    noisy = within_noise(groups, _score(inputs.factors, passes), passes, inputs.repeat_spread)
    kept = groups.each(drop == KEPT)
    each = groups.each
    return EngineOutputs(
        status=raw.status,
        test=raw.test,
        hack=only_passes(inputs.outcome, inputs.hack),
        route=of_row,
        reward_raw=raw.reward,
        length_penalty=final.taken,
        length_floored=np.where(raw.valid, final.floored, np.int8(-1)),
        reward=final.reward,
        group_size=each(groups.sizes),
        group_valid=each(groups.count(raw.valid)),
        group_mean=each(base.mean),
        kept=kept,
        drop_reason=each(drop),
        advantage_base=base.advantage,
        ranking=each(ranked.state),
        tier=ranked.tier,
        rank=ranked.rank,
        quality_factor=ranked.factor,
        scale_uncapped=each(moved.scale_uncapped),
        scale=each(moved.scale),
        capped=each(np.where(active, moved.capped, np.int8(-1))),
        mass_before=each(moved.mass_before),
        mass_after=each(moved.mass_after),
        within_noise=each(noisy),
        advantage=np.where(kept, moved.advantage, np.nan),
        reward_star=np.where(kept, star, np.nan),
    )


def _routes(groups: Segments, inputs: EngineInputs, passes: Bools, config: RewardConfig) -> Ints:
    """The route of each group."""
    if config.routing == "grs":
        return np.full(len(groups), GRS, dtype=np.int8)
    known = known_outcome(inputs.outcome)
    if config.routing == "group":
        return routes(groups, known, passes, config.grs_from)
    tasks = Segments.of(inputs.task_starts, len(inputs.outcome))
    of_task = routes(tasks, known, passes, config.grs_from)
    return of_task[tasks.index[groups.starts]]


def _rank(groups: Segments, rankings: Rankings, passes: Bools, gar: Bools, config: QualityConfig) -> _Ranked:
    """Quality of the passes of gar groups; 1 where their ranking says nothing."""
    judged = aggregate(groups, rankings, passes, gar)
    quality = grade(groups.index[judged.row], judged.checks, judged.flags, config)
    rows = len(passes)
    tier, rank = np.full(rows, -1, dtype=np.int8), np.full(rows, -1)
    factor = np.where(passes & groups.each(gar), 1.0, np.nan)
    tier[judged.row], rank[judged.row], factor[judged.row] = quality.tier, quality.rank, quality.factor
    return _Ranked(judged.state, tier, rank, factor)


def _score(factors: tuple[Factor, ...], passes: Bools) -> Floats:
    """Product of the scores of a pass, whatever its route; NaN where one is missing, or no rubric applies."""
    score = np.ones(len(passes))
    applied = np.zeros(len(passes), dtype=np.bool_)
    for applies, values in factors:
        score = np.where(applies, score * values, score)
        applied |= applies
    return np.where(applied & passes, score, np.nan)
