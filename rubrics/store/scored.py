"""Which tasks a judge has scored, or an auditor audited, as they are now: what is up to date is not done again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from rubrics.digests import digest128
from rubrics.store.commit import StageRun
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
_OTHERS = """
SELECT task_id, md5(string_agg(audits::VARCHAR, ' ' ORDER BY rollout_id, source, kind)) AS digest
FROM audits WHERE source NOT IN (SELECT unnest($sources)) GROUP BY task_id
"""


def inputs_of(store: Store, settings: str, others: Callable[[str], Iterable[str | None]]) -> dict[str, str]:
    """By task, a digest of everything that its scores rest on: the attempts with their outcomes, the task, `others`
    (digests of its rubrics, or of what an audit looks at beside), and how it is scored (`settings`)."""
    return {
        row["task_id"]: digest128([settings, row["digest"], *others(row["task_id"])])
        for row in store.query(_INPUTS).to_pylist()
    }


def hidden_tests(store: Store) -> dict[str, str]:
    """By task, a digest of its hidden tests; none where it has none."""
    batches = store.batches("sealed", ["task_id", "test_patch"], "test_patch IS NOT NULL")
    return {row["task_id"]: digest128([row["test_patch"]]) for batch in batches for row in batch}


def audits_of_others(store: Store, sources: Sequence[str]) -> dict[str, str]:
    """By task, a digest of what others than these auditors found; none where they found nothing."""
    rows = store.query(_OTHERS, {"sources": list(sources)}).to_pylist()
    return {row["task_id"]: row["digest"] for row in rows}


def up_to_date(store: Store, judge: str, inputs: Mapping[str, str]) -> set[str]:
    """The tasks that the judge, or auditors, did in full by these inputs."""
    rows = store.rows("scored", where="judge = $judge", judge=judge)
    return {row["task_id"] for row in rows if inputs.get(row["task_id"]) == row["inputs"]}


def remember(run: StageRun, judge: str, tasks: Sequence[str], whole: Iterable[str], inputs: Mapping[str, str]) -> None:
    """Have the run say of these tasks which the judge, or auditors, did in full (`whole`), and by what inputs."""
    run.carry("scored", "judge = $judge AND task_id IN (SELECT unnest($tasks))", judge=judge, tasks=list(tasks))
    rows = [{"task_id": task_id, "judge": judge, "inputs": inputs[task_id]} for task_id in sorted(whole)]
    run.append("scored", rows)


def last_judge(store: Store) -> str | None:
    """The judge that scored last; null before any did."""
    return next((row["value"] for row in store.rows("chosen", where="what = $what", what=LAST_JUDGE)), None)


def unjudged(store: Store) -> int:
    """How often the judge that scored last was asked and gave no verdict."""
    where = "failure_class IS NOT NULL AND judge = $judge"
    return len(store.rows("judgements", ["judge"], where, judge=last_judge(store)))
