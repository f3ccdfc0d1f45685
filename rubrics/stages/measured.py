"""Facts and contrasts of whole tasks, as the judge wants them; contrasts that are missing are measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rubrics.contrasts.measure import CONTENT, Attempt, Study
from rubrics.errors import RubricError, StoreError
from rubrics.records.rubrics import Kind, Rubric
from rubrics.rules.evaluate import Measured, measured_table, names_in
from rubrics.store.schema import CONTRASTS_TABLE, FACTS_TABLE
from rubrics.store.store import Store

_QUERY = """
    WITH wanted AS (SELECT unnest($tasks) AS task_id, unnest($studies) AS study_digest)
    SELECT {columns}, contrasts.rollout_id IS NOT NULL AS contrasted
    FROM (SELECT * FROM facts WHERE task_id BETWEEN $first AND $last) AS facts JOIN wanted USING (task_id)
    LEFT JOIN (SELECT * FROM contrasts WHERE task_id BETWEEN $first AND $last) AS contrasts
      ON contrasts.rollout_id = facts.rollout_id AND contrasts.study_digest = wanted.study_digest
    ORDER BY facts.task_id, facts.rollout_id
"""
_ALL = "facts.*, contrasts.* EXCLUDE (rollout_id, task_id, study_digest)"


def measured_tasks(
    store: Store, rubrics: Mapping[str, Mapping[Kind, Rubric]]
) -> Iterator[tuple[str, Measured, list[dict[str, Any]]]]:
    """For each task with rubrics: its id, the measurements (`rollout_id`, facts, contrasts), new contrast rows."""
    studies = {task_id: _study_digest(task_id, found) for task_id, found in rubrics.items() if found}
    if not studies:
        return
    lacking: dict[str, str] = {}
    for task_id, part in _by_task(store, studies, _columns(rubrics)):
        if all(part.column("contrasted").to_pylist()):
            yield task_id, part.drop_columns(["task_id", "contrasted"]), []
        else:
            lacking[task_id] = studies[task_id]
    for task_id, part in _by_task(store, lacking, _ALL) if lacking else ():
        yield task_id, *_completed(store, task_id, studies[task_id], part.to_pylist())


def _columns(rubrics: Mapping[str, Mapping[Kind, Rubric]]) -> str:
    """What the rules name, and what tells that a rollout has a patch or a transcript: reading all columns costs several
    times as much."""
    rules = (item.rule or "" for found in rubrics.values() for rubric in found.values() for item in rubric.criteria)
    wanted = {*names_in(rules), *CONTENT.values()}
    facts = [name for name in FACTS_TABLE.columns.names if name in wanted]
    contrasts = [name for name in CONTRASTS_TABLE.columns.names if name in wanted]
    named = [f"facts.{name}" for name in ("rollout_id", "task_id", *facts)]
    return ", ".join([*named, *(f"contrasts.{name}" for name in contrasts)])


def _by_task(store: Store, studies: Mapping[str, str], columns: str) -> Iterator[tuple[str, Measured]]:
    """Facts and contrasts of each task, in the order of the tasks. The bounds on the task let DuckDB leave out row
    groups of others."""
    parameters = {
        "tasks": list(studies), "studies": list(studies.values()), "first": min(studies), "last": max(studies),
    }  # fmt: skip
    table = store.query(_QUERY.format(columns=columns), parameters)
    for task_id, (start, stop) in _bounds(table.column("task_id").to_pylist()).items():
        yield task_id, table.slice(start, stop - start)


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
