"""Which form a JSON value has, by its content."""

from __future__ import annotations

from typing import Any, Literal

from rubrics.ingest import harness, native, outcome_files, predictions
from rubrics.ingest.chat import is_chat
from rubrics.ingest.mini_swe_agent import is_bare_chat

Form = Literal[
    "native", "mini_swe_agent", "bare_chat", "swe_agent", "aider", "prediction", "predictions_by_id", "task", "outcome",
    "outcomes_nested", "report", "run_report", "rows", "empty",
]  # fmt: skip

_TASK_MARKS = ("problem_statement", "FAIL_TO_PASS", "base_commit")
_AIDER_MARKS = ("all_results", "tries", "edit_outcome")


def form_of(value: Any) -> Form | None:
    """The form of a document or of one row; null when it is none that is known."""
    if isinstance(value, list):
        return _form_of_list(value)
    if not isinstance(value, dict):
        return None
    if not value:
        return "empty"
    return _trajectory(value) or _row(value) or _keyed(value)


def _form_of_list(value: list[Any]) -> Form | None:
    if not value:
        return "empty"
    if is_bare_chat(value):
        return "bare_chat"
    if is_chat(value):
        return None
    return "rows" if all(isinstance(item, dict) for item in value) else None


def _trajectory(value: dict[str, Any]) -> Form | None:
    if value.get("kind") in native.KINDS:
        return "native"
    if isinstance(value.get("messages"), list) and (
        "trajectory_format" in value or isinstance(value.get("info"), dict)
    ):
        return "mini_swe_agent"
    steps = value.get("trajectory")
    acts = isinstance(steps, list) and all(isinstance(item, dict) and "action" in item for item in steps)
    if acts or (steps is None and is_chat(value.get("history"))):
        return "swe_agent"
    return None


def _row(value: dict[str, Any]) -> Form | None:
    if "instance_id" not in value and "task_id" not in value:
        return None
    if "model_patch" in value and any(mark in value for mark in _AIDER_MARKS):
        return "aider"
    if any(key in value for key in predictions.PATCH_KEYS):
        return "prediction"
    if outcome_files.is_flat(value):
        return "outcome"
    if any(mark in value for mark in _TASK_MARKS):
        return "task"
    return "prediction" if any(key in value for key in predictions.POLICY_KEYS) else None


def _keyed(value: dict[str, Any]) -> Form | None:
    if harness.is_run_report(value):
        return "run_report"
    if harness.is_report(value):
        return "report"
    rows = [row for row in value.values() if isinstance(row, dict)]
    if rows and all(any(key in row for key in (*predictions.PATCH_KEYS, "model_name_or_path")) for row in rows):
        return "predictions_by_id"
    return "outcomes_nested" if outcome_files.is_nested(value) else None
