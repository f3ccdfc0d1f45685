"""What would be sent to a judge for a rollout, without asking anybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from glob import escape
from typing import Any, cast

from rubrics import jsonio
from rubrics.errors import UsageError
from rubrics.judges.model_agent import AgentJudge
from rubrics.judges.single import SingleJudge
from rubrics.models.model import Model
from rubrics.records.judgements import Case
from rubrics.records.models import Request
from rubrics.stages.estimate import chosen_cases
from rubrics.stages.options import Options
from rubrics.store.store import Store


@dataclass(frozen=True, slots=True)
class _Named:
    """Stands where a model is named and never asked."""

    name: str


def requests(kind: str, case: Case, options: Options) -> tuple[Request, ...]:
    """The first requests of a judge of this kind (`single`, `agent`) about one rollout."""
    model = cast(Model, _Named(options.model or "MODEL"))
    if kind == "single":
        return SingleJudge(model, options.room).requests(case)
    return AgentJudge(model, _no_environment).requests(case)


def case_of(store: Store, rollout_id: str, options: Options) -> Case:
    """The rollout as the judges see it. Raises `UsageError` when no criterion of its task asks a judge."""
    found = store.rows("rollouts", ["task_id"], "rollout_id = $id", id=rollout_id)
    alone = replace(options, tasks=escape(found[0]["task_id"])) if found else options
    for case in chosen_cases(store, alone):
        if case.rollout.rollout_id == rollout_id:
            return case
    raise UsageError(
        f"rollout {rollout_id}: no criterion of its task's rubrics is for a judge; `rubrics synthesize --author model` "
        "writes such, or write `method: judge` in a rubric file"
    )


def as_text(listed: Sequence[Request]) -> str:
    """Requests for people: every message under its role, then the tools and the form of the answer."""
    parts = []
    for number, request in enumerate(listed, 1):
        if len(listed) > 1:
            parts.append(f"===== request {number} of {len(listed)} =====")
        parts += [f"----- {item['role']} -----\n{item['content']}" for item in request.messages]
        for tool in request.tools:
            parts.append(f"----- tool {tool.name} -----\n{tool.description}\n{jsonio.dumps(dict(tool.parameters))}")
        if request.schema is not None:
            parts.append(f"----- form of the answer -----\n{jsonio.dumps(dict(request.schema))}")
    return "\n".join(parts)


def _no_environment(*_: Any) -> Any:
    raise UsageError("prompts are shown without an environment")
