"""Facts and contrasts of whole tasks, as the judge wants them; contrasts that are missing are measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rubrics.contrasts.measure import Attempt, Study
from rubrics.errors import RubricError, StoreError
from rubrics.records.rubrics import Kind, Rubric
from rubrics.rules.evaluate import Measured, measured_table
from rubrics.store.store import Store

_QUERY = """
    WITH wanted AS (SELECT unnest($tasks) AS task_id, unnest($studies) AS study_digest)
    SELECT facts.*, contrasts.* EXCLUDE (rollout_id, task_id, study_digest),
           contrasts.rollout_id IS NOT NULL AS contrasted
    FROM (SELECT * FROM facts WHERE task_id BETWEEN $first AND $last) AS facts JOIN wanted USING (task_id)
    LEFT JOIN (SELECT * FROM contrasts WHERE task_id BETWEEN $first AND $last) AS contrasts
      ON contrasts.rollout_id = facts.rollout_id AND contrasts.study_digest = wanted.study_digest
    ORDER BY facts.task_id, facts.rollout_id
"""


def measured_tasks(
    store: Store, rubrics: Mapping[str, Mapping[Kind, Rubric]]
) -> Iterator[tuple[str, Measured, list[dict[str, Any]]]]:
    """For each task with rubrics: its id, the measurements (`rollout_id`, facts, contrasts), new contrast rows."""
    studies = {task_id: _study_digest(task_id, found) for task_id, found in rubrics.items() if found}
    if not studies:
        return
    parameters = {
        "tasks": list(studies),
        "studies": list(studies.values()),
        "first": min(studies),
        "last": max(studies),
    }
    table = store.query(_QUERY, parameters)
    bounds = _bounds(table.column("task_id").to_pylist())
    for task_id, (start, stop) in bounds.items():
        part = table.slice(start, stop - start)
        if all(part.column("contrasted").to_pylist()):
            yield task_id, part.drop_columns(["task_id", "contrasted"]), []
        else:
            yield task_id, *_completed(store, task_id, studies[task_id], part.to_pylist())


def refuse_unmeasured(store: Store, task_ids: list[str]) -> None:
    """Without facts rules have no values, not even unknown ones. Raises `StoreError` where a rollout lacks them."""
    sql = "SELECT count(*) AS n FROM rollouts ANTI JOIN facts USING (rollout_id) WHERE task_id IN (SELECT unnest($ids))"
    (row,) = store.query(sql, {"ids": task_ids}).to_pylist()
    if row["n"]:
        raise StoreError(f"{row['n']} rollouts were never measured: an ingest broke off; run `rubrics ingest` again")


def _completed(
    store: Store, task_id: str, digest: str, rows: list[dict[str, Any]]
) -> tuple[Measured, list[dict[str, Any]]]:
    studied = store.rows("studies", where="task_id = $task AND study_digest = $study", task=task_id, study=digest)
    study = Study([Attempt(row["rollout_id"], row["passed"], row) for row in studied])
    new = []
    for row in rows:
        if not row["contrasted"]:
            contrasts = study.contrasts(row)
            row.update(contrasts)
            new.append({"rollout_id": row["rollout_id"], "task_id": task_id, "study_digest": digest, **contrasts})
    ids = [row["rollout_id"] for row in rows]
    return measured_table(rows, rollout_id=ids), new


def _study_digest(task_id: str, rubrics: Mapping[Kind, Rubric]) -> str:
    digests = {rubric.study_digest for rubric in rubrics.values()}
    if len(digests) > 1:
        raise RubricError(
            f"task {task_id}: its rubrics name different studies {sorted(digests)}; give both the same `study`"
        )
    return digests.pop()


def _bounds(task_ids: list[str]) -> dict[str, tuple[int, int]]:
    bounds: dict[str, tuple[int, int]] = {}
    for index, task_id in enumerate(task_ids):
        bounds[task_id] = (bounds.get(task_id, (index, index))[0], index + 1)
    return bounds
