"""Run criteria of a chunk: each rollout's environment is entered once, for all its commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from rubrics import __version__, jsonio
from rubrics.environments.session import Environment
from rubrics.errors import AttemptError, InfraError
from rubrics.judges.runs import RunVerdict, run_criteria
from rubrics.records.rollouts import Rollout
from rubrics.records.rubrics import Criterion, Kind, Rubric
from rubrics.records.tasks import Task
from rubrics.rules.digest import rubric_digest
from rubrics.stages.judging import unsaid
from rubrics.stages.task_records import rollout_records, task_records
from rubrics.store.store import Store

Rubrics = Mapping[Kind, Rubric]


def runs(rubric: Rubric) -> list[Criterion]:
    """The criteria that run a command."""
    return [item for item in rubric.criteria if item.method == "run"]


def wanted(rubrics: Mapping[str, Rubrics]) -> dict[str, Rubrics]:
    """The tasks some rubric of which runs a command."""
    return {task_id: found for task_id, found in rubrics.items() if any(map(runs, found.values()))}


def run_rows(store: Store, rubrics: Mapping[str, Rubrics], environment: Environment) -> Iterator[dict[str, Any]]:
    """One row per rollout and run criterion, without `judge` and `repeat`; null with a class where nothing ran."""
    where = "task_id IN (SELECT unnest($ids))"
    ids = [row["rollout_id"] for row in store.rows("rollouts", ["rollout_id", "task_id"], where, ids=list(rubrics))]
    tasks = task_records(store, list(rubrics))
    for rollout in rollout_records(store, ids):
        found = tasks.get(rollout.task_id)
        asked = [(rubric, item) for rubric in rubrics[rollout.task_id].values() for item in runs(rubric)]
        failure, verdicts = _entered(environment, found[0] if found else None, rollout, [item for _, item in asked])
        for place, (rubric, item) in enumerate(asked):
            said = _said(verdicts[place], place) if verdicts else unsaid(*failure)
            yield {
                "rollout_id": rollout.rollout_id, "task_id": rollout.task_id, "kind": rubric.kind,
                "rubric_digest": rubric_digest(rubric), "criterion_id": item.id, "weight": float(item.weight),
                "gate": item.gate, "code_version": __version__, **said,
            }  # fmt: skip


def _entered(
    environment: Environment, task: Task | None, rollout: Rollout, criteria: Sequence[Criterion]
) -> tuple[tuple[str, str], list[RunVerdict]]:
    """Why nothing ran, or what the commands came to."""
    if task is None:
        return ("no_task", "no task row: no environment to run it in"), []
    if rollout.patch is None and rollout.snapshot is None:
        return ("no_patch", "neither patch nor snapshot: no state to run it on"), []
    try:
        with closing(environment.open(task, rollout)) as session:
            return ("", ""), run_criteria(session, criteria)
    except InfraError as error:
        return (f"infra_{error.kind}", str(error)), []
    except AttemptError as error:
        return (f"attempt_{error.kind}", str(error)), []


def _said(verdict: RunVerdict, number: int) -> dict[str, Any]:
    if verdict.value is None:
        return unsaid("no_program", verdict.reason)
    level = verdict.criterion.scale[int(verdict.value)]
    evidence = jsonio.dumps([{"place": f"run:{number}", "quote": verdict.quote}])
    return {"level": level, "value": verdict.value, "reason": verdict.reason, "evidence": evidence}
