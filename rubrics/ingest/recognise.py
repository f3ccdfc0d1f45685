"""Which form a JSON value has, by its content, and why.

Every form names the marks that it finds in the value; it has none where the value holds a patch or a transcript that
its reader would drop. The form with the most marks is taken, of equals the first listed; our own `kind` decides alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from rubrics.ingest import outcome_files
from rubrics.ingest.aider import aider_marks
from rubrics.ingest.chat import is_chat
from rubrics.ingest.harness import report_marks
from rubrics.ingest.mini_swe_agent import is_bare_chat, mini_swe_agent_marks
from rubrics.ingest.native import native_marks
from rubrics.ingest.predictions import by_id_marks, prediction_marks
from rubrics.ingest.run_reports import run_report_marks
from rubrics.ingest.swe_agent import swe_agent_marks
from rubrics.ingest.tasks import task_marks
from rubrics.ingest.values import Row

Form = Literal[
    "native", "mini-swe-agent", "bare chat", "swe-agent", "aider", "prediction", "predictions by id", "task", "outcome",
    "outcomes by run", "harness report", "run report", "rows", "empty",
]  # fmt: skip

_Marks = Callable[[Row], list[str]]

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CAMEL_IDS = ("instanceId", "taskId")


@dataclass(frozen=True, slots=True)
class Recognised:
    """The form of a value, and what it was told by."""

    form: Form
    marks: tuple[str, ...]

    @property
    def why(self) -> str:
        """In a few words, for people."""
        return f"{self.form}: by {', '.join(self.marks)}"


_WHOLE: tuple[tuple[Form, _Marks], ...] = (
    ("mini-swe-agent", mini_swe_agent_marks),
    ("swe-agent", swe_agent_marks),
)
_OF_A_TASK: tuple[tuple[Form, _Marks], ...] = (
    *_WHOLE,
    ("aider", aider_marks),
    ("outcome", outcome_files.flat_marks),
    ("task", task_marks),
    ("prediction", prediction_marks),
)
"""Forms of what names its task."""
_OF_SEVERAL: tuple[tuple[Form, _Marks], ...] = (
    *_WHOLE,
    ("run report", run_report_marks),
    ("harness report", report_marks),
    ("predictions by id", by_id_marks),
    ("outcomes by run", outcome_files.nested_marks),
)


def recognise(value: Any) -> Recognised | None:
    """The form of a document or of one row; null when it is none that is known."""
    if isinstance(value, list):
        return _of_list(value)
    if not isinstance(value, dict):
        return None
    if not value:
        return Recognised("empty", ())
    if marks := native_marks(value):
        return Recognised("native", tuple(marks))
    forms = _OF_A_TASK if "instance_id" in value or "task_id" in value else _OF_SEVERAL
    form, found = max(((form, marks(value)) for form, marks in forms), key=lambda item: len(item[1]))
    return Recognised(form, tuple(found)) if found else None


def plain_names(value: Any) -> Any:
    """The value with `instanceId`, `modelPatch` and such written `instance_id`, `model_patch`, in a row and in its own
    rows."""
    if not isinstance(value, dict):
        return value
    if any(key in value for key in _CAMEL_IDS):
        return {_CAMEL.sub("_", key).lower() if _CAMEL.search(key) else key: item for key, item in value.items()}
    if value and all(isinstance(item, dict) and ("modelPatch" in item) for item in value.values()):
        return {key: plain_names({"instanceId": key, **item}) for key, item in value.items()}
    return value


def _of_list(value: list[Any]) -> Recognised | None:
    if not value:
        return Recognised("empty", ())
    if is_bare_chat(value):
        return Recognised("bare chat", ("messages of roles", "a command that submits, or a return code"))
    if is_chat(value):
        return None
    return Recognised("rows", ("objects",)) if all(isinstance(item, dict) for item in value) else None
