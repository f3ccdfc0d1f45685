"""Verdicts as rows of the `grades` table, column by column: a task has many."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import pyarrow as pa

from rubrics import __version__
from rubrics.records.verdicts import Verdicts
from rubrics.store.schema import GRADES


def grade_table(
    verdicts: Sequence[Verdicts], rollout_ids: Sequence[str], task_id: str, judge: str, repeats: int = 1
) -> pa.Table:
    """One row per rollout, verdict and repeat: what is computed is the same in every repeat of a judge."""
    once = _once(verdicts, rollout_ids, task_id, judge)
    place = GRADES.columns.get_field_index("repeat")
    field = GRADES.columns.field(place)
    tables = [
        once.set_column(place, field, pa.array([number] * once.num_rows, field.type)) for number in range(repeats)
    ]
    return pa.concat_tables(tables)


def _once(verdicts: Sequence[Verdicts], rollout_ids: Sequence[str], task_id: str, judge: str) -> pa.Table:
    n = len(rollout_ids)
    total = n * len(verdicts)

    def repeated(values: Sequence[object]) -> list[object]:
        return [value for value in values for _ in range(n)]

    columns = {
        "rollout_id": list(rollout_ids) * len(verdicts),
        "task_id": [task_id] * total,
        "kind": repeated([item.kind for item in verdicts]),
        "rubric_digest": repeated([item.rubric_digest for item in verdicts]),
        "criterion_id": repeated([item.criterion.id for item in verdicts]),
        "weight": repeated([item.criterion.weight for item in verdicts]),
        "gate": repeated([item.criterion.gate for item in verdicts]),
        "judge": [judge] * total,
        "repeat": [0] * total,
        "level": [None] * total,
        "value": list(chain.from_iterable(item.values for item in verdicts)),
        "failure_class": list(chain.from_iterable(item.failures for item in verdicts)),
        "reason": repeated([item.reason for item in verdicts]),
        "evidence": repeated([item.evidence for item in verdicts]),
        "judge_model": [None] * total,
        "prompt_digest": [None] * total,
        "code_version": [__version__] * total,
    }
    return pa.table({field.name: pa.array(columns[field.name], field.type) for field in GRADES.columns})
