"""The identity of a rubric: a digest of what decides verdicts, not of how the file is laid out."""

from __future__ import annotations

from rubrics import jsonio
from rubrics.digests import digest128
from rubrics.records.rubrics import Criterion, Rubric


def rubric_digest(rubric: Rubric) -> str:
    """128-bit digest of task, kind, study and criteria (in the order of their ids).

    `fared`, `evidence` and notes are left out: they tell about a criterion and do not change a verdict.
    """
    return digest128([rubric.task_id, rubric.kind, rubric.study_digest, criteria_json(rubric)])


def criteria_json(rubric: Rubric) -> str:
    """The criteria as canonical JSON, in the order of their ids."""
    criteria = sorted(rubric.criteria, key=lambda criterion: criterion.id)
    return jsonio.dumps([_content(criterion) for criterion in criteria])


def _content(criterion: Criterion) -> dict[str, object]:
    return {
        "id": criterion.id,
        "text": criterion.text,
        "weight": float(criterion.weight),
        "method": criterion.method,
        "rule": criterion.rule,
        "guidance": criterion.guidance,
        "scale": list(criterion.scale),
        "gate": criterion.gate,
        "fault": criterion.fault,
        "anchor": criterion.anchor,
        **({} if criterion.command is None else {"command": criterion.command}),
    }
