"""What a judge is asked about one rollout, and how it stands in a prompt. Pure; for all judges that ask a model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from rubrics import jsonio
from rubrics.prompting.fences import fence, shown_name
from rubrics.prompting.tasks import facts_view, spec_view
from rubrics.prompting.templates import render
from rubrics.records.judgements import Case
from rubrics.records.rubrics import Kind
from rubrics.records.tasks import Task
from rubrics.replies.examples import VERDICTS
from rubrics.replies.verdicts import Ask, asks_of

REPLY_FORM = json.dumps(VERDICTS)
"""Its fields stand in the order in which they are to be written: the reason first."""


def asks_for(case: Case) -> tuple[Ask, ...]:
    """The criteria of method `judge` for which the rollout has what they are about: a patch for `solution`,
    a transcript for `behavior`."""
    present: Mapping[Kind, bool] = {
        "solution": case.rollout.patch is not None,
        "behavior": case.rollout.turns is not None,
    }
    return asks_of({kind: rubric for kind, rubric in case.rubrics.items() if present[kind]})


@lru_cache(maxsize=64)
def task_part(task: Task, asks: tuple[Ask, ...]) -> str:
    """Task and criteria: what all rollouts of a task share."""
    return render("judge_single_task", **task_values(task), criteria=criteria(asks))


def criteria(asks: Sequence[Ask]) -> list[dict[str, Any]]:
    """Values for `_criteria.j2`: no weights, no gates, nothing of how a criterion came to be."""
    return [
        {
            "name": ask.name,
            "kind": ask.kind,
            "text": shown_name(ask.criterion.text),
            "guidance": shown_name(ask.criterion.guidance or ""),
            "levels": shown_name(", ".join(jsonio.dumps(level) for level in ask.criterion.scale)),
        }
        for ask in asks
    ]


def task_values(task: Task) -> dict[str, str]:
    """Values for `_task.j2`."""
    return {"facts": fence("task", facts_view(task)), "spec": fence("spec", spec_view(task))}


@lru_cache(maxsize=16)
def instructions(template: str, more_places: str = "") -> str:
    """The first message: the same for every task."""
    return render(template, reply_form=REPLY_FORM, more_places=more_places)
