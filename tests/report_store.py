"""Makes small stores by hand: rubrics, verdicts and outcomes as given, rewards by the real reward stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rubrics.digests import digest128
from rubrics.records.rubrics import KINDS, Criterion, Kind, Rubric
from rubrics.rules.digest import rubric_digest
from rubrics.stages.options import Options
from rubrics.stages.reward import Reward
from rubrics.stages.rubric_files import row as rubric_row
from rubrics.stages.stage import drive, run_here
from rubrics.store.store import Store

STUDY = "5" * 32


@dataclass(frozen=True)
class Attempt:
    """One rollout as a test wants it."""

    task: str
    run: str
    outcome: str | None
    """What a file says; null for nothing."""
    values: Mapping[str, Sequence[float | None]]
    """Value of each criterion, in the order of the rubric's criteria."""
    patch: str | None = ""
    exit: tuple[str, str] | None = None
    """Outcome and name of an exit status."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    policy: str = "policy"
    duplicate_of: str | None = None
    audits: Sequence[Mapping[str, Any]] = ()
    """Columns of its rows of `audits`."""

    @property
    def rollout_id(self) -> str:
        return digest128([self.task, self.run])


def make_store(
    root: Path, attempts: Sequence[Attempt], rubrics: Mapping[tuple[str, str], Sequence[Criterion]],
    environments: Sequence[Mapping[str, Any]] = (), **options: Any,
) -> Store:  # fmt: skip
    """A store with these attempts, scored as they say; `options` go to the reward stage."""
    store = Store.create(root)
    made = {
        (task, kind): Rubric(task, kind, tuple(criteria), "builtin", (), STUDY, "Written by hand for a test.")
        for (task, of), criteria in rubrics.items()
        for kind in KINDS
        if kind == of
    }
    with store.writing() as run:
        tasks = sorted({attempt.task for attempt in attempts})
        run.append("tasks", [{"task_id": task, "source": "by hand"} for task in tasks])
        run.append("environments", environments)
        run.append("rubrics", [rubric_row(rubric) for rubric in made.values()])
        for attempt in attempts:
            about = {"rollout_id": attempt.rollout_id, "task_id": attempt.task}
            run.append("rollouts", [_rollout(attempt)])
            run.append("facts", [{**about, **attempt.facts}])
            run.append("outcomes", [{**about, **outcome} for outcome in _outcomes(attempt)])
            run.append("audits", [{**about, **audit} for audit in attempt.audits])
            for kind in KINDS:
                if (attempt.task, kind) in made:
                    run.append("grades", _grades(attempt, kind, made[attempt.task, kind]))
    drive(Reward(store, Options(str(root), **options)), store, run_here, window=1)
    return store


def _rollout(attempt: Attempt) -> dict[str, Any]:
    return {
        "rollout_id": attempt.rollout_id,
        "content_digest": attempt.rollout_id,
        "task_id": attempt.task,
        "group_id": attempt.task,
        "policy": attempt.policy,
        "run": attempt.run,
        "attempt": 0,
        "harness": "native",
        "patch": attempt.patch,
        "duplicate_of": attempt.duplicate_of,
        "source": "by hand",
    }


def _outcomes(attempt: Attempt) -> Iterator[dict[str, Any]]:
    if attempt.outcome:
        yield {"source": "file:0123456789ab", "outcome": attempt.outcome}
    if attempt.exit:
        yield {"source": "exit", "outcome": attempt.exit[0], "detail": attempt.exit[1]}


def _grades(attempt: Attempt, kind: Kind, rubric: Rubric) -> Iterator[dict[str, Any]]:
    if not attempt.values.get(kind):
        return
    for criterion, value in zip(rubric.criteria, attempt.values[kind], strict=True):
        yield {
            "rollout_id": attempt.rollout_id,
            "task_id": attempt.task,
            "kind": kind,
            "rubric_digest": rubric_digest(rubric),
            "criterion_id": criterion.id,
            "weight": criterion.weight,
            "gate": criterion.gate,
            "judge": "builtin",
            "repeat": 0,
            "value": value,
            "failure_class": "null_rule" if value is None else None,
            "reason": f"rule: {criterion.rule}",
            "evidence": '["' + '","'.join(f"fact:{name}" for name in criterion.evidence) + '"]',
        }
