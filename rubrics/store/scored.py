"""Which tasks a judge has scored as they are now: what is up to date is not scored again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rubrics.digests import digest128
from rubrics.store.store import Store

LAST_JUDGE = "judge"
"""`what` of the row of `chosen` that names the judge that scored last."""
_INPUTS = """
SELECT task_id, any_value(task) || ' ' || md5(string_agg(attempt, ' ' ORDER BY attempt)) AS digest
FROM (
  SELECT rollouts.task_id, concat_ws(' ', tasks.digest, environments.digest) AS task,
    concat_ws(' ', rollouts.rollout_id, chosen_outcomes.outcome, md5(outcomes.tests)) AS attempt
  FROM rollouts
  LEFT JOIN (SELECT task_id, md5(tasks::VARCHAR) AS digest FROM tasks) AS tasks ON tasks.task_id = rollouts.task_id
  LEFT JOIN (SELECT task_id, md5(environments::VARCHAR) AS digest FROM environments) AS environments
    ON environments.task_id = rollouts.task_id
  LEFT JOIN chosen_outcomes ON chosen_outcomes.rollout_id = rollouts.rollout_id
  LEFT JOIN outcomes ON outcomes.rollout_id = rollouts.rollout_id AND outcomes.source = chosen_outcomes.source
)
GROUP BY task_id
"""


def inputs_of(store: Store, settings: str, rubrics: Callable[[str], Iterable[str | None]]) -> dict[str, str]:
    """By task, a digest of everything that its scores rest on: the attempts with their outcomes, the task, its rubrics
    (by their digests), and how it is scored (`settings`)."""
    return {
        row["task_id"]: digest128([settings, row["digest"], *rubrics(row["task_id"])])
        for row in store.query(_INPUTS).to_pylist()
    }


def scored(store: Store, judge: str) -> dict[str, str]:
    """By task, the digest of what the judge's stored scores rest on; none where it could not score in full."""
    return {row["task_id"]: row["inputs"] for row in store.rows("scored", where="judge = $judge", judge=judge)}


def scored_rows(judge: str, inputs: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Rows of `scored`."""
    for task_id, digest in sorted(inputs.items()):
        yield {"task_id": task_id, "judge": judge, "inputs": digest}


def last_judge(store: Store) -> str | None:
    """The judge that scored last; null before any did."""
    return next((row["value"] for row in store.rows("chosen", where="what = $what", what=LAST_JUDGE)), None)


def unjudged(store: Store) -> int:
    """How often the judge that scored last was asked and gave no verdict."""
    where = "failure_class IS NOT NULL AND judge = $judge"
    return len(store.rows("judgements", ["judge"], where, judge=last_judge(store)))
