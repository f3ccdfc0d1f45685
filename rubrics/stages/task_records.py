"""Rows of the store as the records that environments and tests take."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Sealed, SealedTask, Task
from rubrics.store.store import Store

_LISTS = ("fail_to_pass", "pass_to_pass")


def task_records(store: Store, task_ids: list[str]) -> dict[str, tuple[Task, SealedTask | None]]:
    """Tasks and their sealed parts by id; ids without a task row are left out."""
    where = "task_id IN (SELECT unnest($ids))"
    sealed = {row["task_id"]: _sealed(row) for row in store.rows("sealed", where=where, ids=task_ids)}
    rows = store.rows("tasks", where=where, ids=task_ids)
    return {row["task_id"]: (_task(row), sealed.get(row["task_id"])) for row in rows}


def rollout_records(store: Store, rollout_ids: list[str]) -> list[Rollout]:
    """Rollouts without their transcripts."""
    names = {item.name for item in fields(Rollout)} - {"turns"}
    rows = store.rows("rollouts", where="rollout_id IN (SELECT unnest($ids))", ids=rollout_ids)
    return [Rollout(**{name: row[name] for name in names}, turns=None) for row in rows]


def _task(row: dict[str, Any]) -> Task:
    lists = {name: tuple(row[name] or ()) for name in _LISTS}
    return Task(**{**row, **lists, "source": row["source"] or ""})


def _sealed(row: dict[str, Any]) -> SealedTask:
    texts = {
        name: None if row[name] is None else Sealed(row[name]) for name in ("test_patch", "reference_patch", "hints")
    }
    return SealedTask(row["task_id"], **texts)
