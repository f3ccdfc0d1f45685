"""A task as a prompt shows it: what it is, what was asked, and which tests are named, by their ids. Pure."""

from __future__ import annotations

from rubrics.prompting.fences import Shown, shown, shown_name
from rubrics.records.tasks import Task

NO_SPEC = "[[note: the task came without a text]]"
LISTED = 100
"""Ids of tests that are listed before the rest is counted only."""


def spec_view(task: Task) -> Shown:
    """The task's own words."""
    return shown(task.spec) if task.spec else Shown(NO_SPEC)


def facts_view(task: Task) -> Shown:
    """Name, repository, base commit, and the ids of the tests that the task names; what tests hold is sealed."""
    lines = [f"task: {shown_name(task.task_id)}"]
    if task.repo:
        lines.append(f"repository: {shown_name(task.repo)}")
    if task.base_commit:
        lines.append(f"base commit: {shown_name(task.base_commit)}")
    if task.fail_to_pass:
        lines.append(f"hidden tests that fail before and must pass: {len(task.fail_to_pass)}")
        lines += [f"- {shown_name(name)}" for name in task.fail_to_pass[:LISTED]]
        if len(task.fail_to_pass) > LISTED:
            lines.append(f"[[note: {len(task.fail_to_pass) - LISTED} more ids are not listed]]")
    if task.pass_to_pass:
        lines.append(f"tests that pass before and must still pass: {len(task.pass_to_pass)} (ids not listed)")
    return Shown("\n".join(lines))
