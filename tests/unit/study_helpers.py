"""Small studies: attempts made from what they add, and the rubrics that the builtin author writes of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from rubrics.authors.author import Brief, StudiedAttempt
from rubrics.authors.builtin import BuiltinAuthor
from rubrics.contrasts.measure import Attempt, Study
from rubrics.facts.measure import measure
from rubrics.records.rollouts import ToolCall, Turn
from rubrics.records.rubrics import Rubric
from rubrics.rules.evaluate import RuleEvaluator, measured_table

BRIEF = Brief("t", "The `load` function must close its file. It raises `ValueError` for an empty path.", True)


def patch(*lines: str, file: str = "src/x.py") -> str:
    """A change that adds the lines to a function of one source file."""
    body = "".join(f"+    {line}\n" for line in lines)
    head = f"diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n"
    return f"{head}@@ -1,2 +1,{2 + len(lines)} @@ def load(path):\n def load(path):\n{body}     return path\n"


def turns(*commands: str) -> tuple[Turn, ...]:
    return tuple(
        Turn("assistant", f"I run {command}", None, (ToolCall("bash", {"command": command}, command),), "done", 0)
        for command in commands
    )


def attempt(name: str, passed: bool, text: str | None, commands: Sequence[str] | None = ("ls",)) -> Attempt:
    return Attempt(name, passed, measure(text, None if commands is None else turns(*commands), "Submitted"))


def studied_of(study: Study) -> tuple[StudiedAttempt, ...]:
    return tuple(StudiedAttempt(a.rollout_id, a.passed, a.facts, study.contrasts(a.facts)) for a in study.attempts)


@cache
def evaluator() -> RuleEvaluator:
    """One for all tests of a process: it remembers the rules that it found good."""
    return RuleEvaluator()


def evaluated(rules: Sequence[str], studied: Sequence[StudiedAttempt]) -> list[tuple[float | None, ...]]:
    return evaluator().values(rules, measured_table([{**item.facts, **item.contrasts} for item in studied]))


def written(attempts: Sequence[Attempt], brief: Brief = BRIEF) -> tuple[Rubric, Rubric]:
    """Both rubrics, every rule of which is allowed."""
    study = Study(attempts)
    rubrics = BuiltinAuthor(evaluated).write(brief, studied_of(study), study.digest())
    for rubric in rubrics:
        for criterion in rubric.criteria:
            evaluator().check(criterion.rule or "", rubric.kind, criterion.id)
    return rubrics


def scores(rubric: Rubric, study: Study, facts: Sequence[dict[str, Any]]) -> list[tuple[float | None, ...]]:
    """Values of every criterion for attempts with these facts."""
    rows = [{**row, **study.contrasts(row)} for row in facts]
    return evaluator().values([item.rule or "" for item in rubric.criteria], measured_table(rows))
