"""Task rows: SWE-bench's and its forks', and the native ones. What gives the answer away is sealed here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from rubrics import jsonio
from rubrics.ingest.items import Item, Source
from rubrics.ingest.row_transcripts import holds_attempt
from rubrics.ingest.values import Row, name_of, names_list, text_or_none
from rubrics.records.tasks import Sealed, SealedTask, Task

_MARKS = ("problem_statement", "FAIL_TO_PASS", "base_commit")


def task_marks(row: Row) -> list[str]:
    """The marks of a task row; none where it names no task or holds an attempt at it."""
    found = [f"`{key}`" for key in _MARKS if key in row]
    named = "instance_id" in row or "task_id" in row
    return found if found and named and not holds_attempt(row) else []


def read_task(row: Row, source: Source) -> Iterator[Item]:
    """The task as rubric writers may see it, and its sealed part if it has one."""
    task_id = name_of(row, source, "task_id", "instance_id")
    recipe = row.get("recipe")
    yield Task(
        task_id=task_id,
        repo=text_or_none(row, "repo"),
        base_commit=text_or_none(row, "base_commit"),
        spec=text_or_none(row, "spec", "problem_statement"),
        repository=text_or_none(row, "repository"),
        image=text_or_none(row, "image", "image_name", "docker_image"),
        recipe=jsonio.dumps(recipe) if isinstance(recipe, (dict, list)) else text_or_none(row, "recipe"),
        workdir=text_or_none(row, "workdir"),
        test_command=text_or_none(row, "test_command"),
        test_report=text_or_none(row, "test_report"),
        fail_to_pass=_tests(row, "fail_to_pass", source),
        pass_to_pass=_tests(row, "pass_to_pass", source),
        source=source.place,
    )
    sealed = SealedTask(
        task_id,
        test_patch=_sealed(row, "test_patch"),
        reference_patch=_sealed(row, "reference_patch", "patch"),
        hints=_sealed(row, "hints", "hints_text"),
    )
    if any(getattr(sealed, field.name) is not None for field in fields(sealed)[1:]):
        yield sealed


def _tests(row: Row, key: str, source: Source) -> tuple[str, ...]:
    value = row.get(key)
    return names_list(row.get(key.upper()) if value is None else value, key, source)


def _sealed(row: Row, *keys: str) -> Sealed | None:
    text = text_or_none(row, *keys)
    return None if text is None else Sealed(text)
