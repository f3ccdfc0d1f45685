"""Token weights: from the reward table and the flags of turns to multipliers that a trainer lays over its tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from rubrics.records.census import CensusLine
from rubrics.rewards.arrays import Floats, Longs
from rubrics.rewards.config import ENGINE_VERSION
from rubrics.rewards.tokens import TokenWeights, token_mass, token_weights
from rubrics.stages.options import Options
from rubrics.stages.reward_config import reward_config
from rubrics.stages.stage import Chunk
from rubrics.store.arrays import floats
from rubrics.store.chunks import Done, Output
from rubrics.store.commit import StageRun
from rubrics.store.store import Store
from rubrics.store.streams import stream
from rubrics.store.token_rows import span_table

CHUNK_ROWS = 100_000
_BATCHES = "SELECT DISTINCT policy, policy_step FROM rewards WHERE advantage IS NOT NULL"
_NUMBERED = f"SELECT *, row_number() OVER (ORDER BY policy, policy_step) - 1 AS batch FROM ({_BATCHES})"
_ROLLOUTS = f"""
WITH marked AS (
  SELECT *, list_filter($flags, lambda flag: list_contains(flags, flag))[1] AS kind FROM own_turns
),
flagged AS (
  SELECT
    transcript_digest, task_id,
    list(turn ORDER BY turn) FILTER (kind IS NOT NULL) AS turns,
    list(kind ORDER BY turn) FILTER (kind IS NOT NULL) AS kinds,
    list(output_tokens ORDER BY turn) FILTER (kind IS NOT NULL) AS turn_tokens,
    sum(output_tokens) FILTER (kind IS NOT NULL) AS flagged_tokens,
    coalesce(sum(output_tokens) FILTER (kind IS NULL), 0) AS clean_tokens,
    bool_and(output_tokens IS NOT NULL) AS counted
  FROM marked
  GROUP BY transcript_digest, task_id
  HAVING count(kind) > 0
)
SELECT
  rewards.task_id, rewards.rollout_id, rewards.advantage, batches.batch, turns, kinds, turn_tokens,
  CASE WHEN turns IS NULL THEN rollouts.output_tokens WHEN counted THEN clean_tokens END::BIGINT AS clean_tokens,
  CASE WHEN turns IS NULL THEN 0 WHEN counted THEN flagged_tokens END::BIGINT AS flagged_tokens
FROM rewards
JOIN rollouts ON rollouts.rollout_id = rewards.rollout_id
JOIN ({_NUMBERED}) AS batches
  ON batches.policy IS NOT DISTINCT FROM rewards.policy AND batches.policy_step IS NOT DISTINCT FROM rewards.policy_step
LEFT JOIN flagged ON flagged.transcript_digest = rewards.transcript_digest AND flagged.task_id = rewards.task_id
WHERE rewards.advantage IS NOT NULL
"""
_DETAILS = {
    "alpha_clamped": "batches where alpha_max binds: mass of positive rollouts is lost",
    "beta_clamped": "batches where beta_min binds: mass of negative rollouts grows",
    "positive_unclean": "batches whose positive rollouts have flagged tokens alone: their mass is lost",
    "negative_unclean": "batches whose negative rollouts have flagged tokens alone: their mass grows",
}


class WeightTokens:
    """Makes `token_weights` and `token_batches` anew from `rewards`, `rollouts` and `transcripts`.

    The rows are read twice: for the masses of each batch, then for the multipliers of each rollout.
    """

    name = "token_weights"

    def __init__(self, store: Store, options: Options) -> None:
        self._store = store
        self._config = reward_config(options)
        self._batches = store.query(f"{_NUMBERED} ORDER BY batch").to_pylist()
        self._rollouts = np.zeros(len(self._batches), dtype=np.int64)
        self._uncounted = np.zeros(len(self._batches), dtype=np.int64)
        self._weights = self._weigh()

    def _tables(self) -> Iterator[Any]:
        return stream(self._store, _ROLLOUTS, CHUNK_ROWS, {"flags": list(self._config.tokens.flags)})

    def _weigh(self) -> TokenWeights:
        """The coefficients of every batch."""
        number = len(self._batches)
        nothing = np.zeros(0)
        mass = token_mass(np.zeros(0, dtype=np.int64), number, nothing, nothing, nothing)
        for table in self._tables():
            batch, advantage, flagged, clean = _arrays(table)
            counted = ~np.isnan(clean)
            mass += token_mass(batch[counted], number, advantage[counted], flagged[counted], clean[counted])
            self._rollouts += np.bincount(batch, minlength=number)
            self._uncounted += np.bincount(batch[~counted], minlength=number)
        return token_weights(mass, self._config.tokens)

    def chunks(self) -> Iterable[Chunk]:
        for place, table in enumerate(self._tables()):
            yield Chunk(f"rollouts {place}", (table,), table.num_rows)

    def work(self, out: Output, chunk: Chunk) -> int:
        table = chunk.items[0]
        batch, advantage, _, clean = _arrays(table)
        sign = np.where(np.isnan(clean), 0, np.sign(advantage))
        weights, kappa = self._weights, self._config.tokens.kappa
        others = np.select([sign > 0, sign < 0], [weights.alpha[batch], weights.beta[batch]], np.nan)
        flagged = np.select([sign > 0, sign < 0], [0.0, kappa], np.nan)
        out.append_table("token_weights", span_table(table, others, flagged, self._config.digest(), ENGINE_VERSION))
        return chunk.rollouts

    def finish(self, run: StageRun, done: Sequence[Done]) -> None:
        run.append("token_weights", ())
        run.append("token_batches", self._batch_rows())
        counts = {name: int(getattr(self._weights, name).sum()) for name in _DETAILS}
        lines = [
            CensusLine(self.name, "run", name, "", _DETAILS[name], count) for name, count in counts.items() if count
        ]
        if missing := int(self._uncounted.sum()):
            lines.append(CensusLine(self.name, "rollout", "no_token_counts", "", "kept, but without weights", missing))
        for line in lines:
            run.note(line)

    def _batch_rows(self) -> Iterator[dict[str, Any]]:
        ends = {"config_digest": self._config.digest(), "engine_version": ENGINE_VERSION}
        for batch in self._batches:
            at = batch["batch"]
            counts = {"rollouts": int(self._rollouts[at]), "without_counts": int(self._uncounted[at])}
            weights = {item.name: getattr(self._weights, item.name)[at].item() for item in fields(TokenWeights)}
            yield {"policy": batch["policy"], "policy_step": batch["policy_step"], **counts, **weights, **ends}


def _arrays(table: Any) -> tuple[Longs, Floats, Floats, Floats]:
    """Batch, advantage, flagged tokens and clean tokens of each rollout; NaN without counts."""
    batch = floats(table, "batch").astype(np.int64)
    return batch, floats(table, "advantage"), floats(table, "flagged_tokens"), floats(table, "clean_tokens")
