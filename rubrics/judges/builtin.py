"""The embedded judge: rule criteria of tasks, evaluated over all their rollouts in one query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rubrics import jsonio
from rubrics.contrasts.measure import CONTENT
from rubrics.records.rubrics import Criterion, Kind, Rubric
from rubrics.records.verdicts import Verdicts
from rubrics.rules.evaluate import Measured, RuleEvaluator

NAME = "builtin"
_MISSING: Mapping[Kind, str] = {"solution": "no_patch", "behavior": "no_transcript"}


def judge(
    evaluator: RuleEvaluator, rubrics: Mapping[str, Rubric], measured: Measured, alone: bool = True
) -> list[Verdicts]:
    """Verdicts for every criterion of the given rubrics (keyed by digest), one row of `measured` per rollout.

    A value is null, with a class, where the rollout lacks the rubric's evidence (`no_patch`,
    `no_transcript`), the rule says null (`null_rule`), the rule leaves [0, 1] (`out_of_range`), or the
    criterion is for a judge (`needs_judge`); the latter are left out where there is one (not `alone`). Criteria of
    method `run` are left out: see `runs.py`.
    """
    return judge_tasks(evaluator, [(rubrics, measured)], alone)[0]


def judge_tasks(
    evaluator: RuleEvaluator, tasks: Sequence[tuple[Mapping[str, Rubric], Measured]], alone: bool = True
) -> list[list[Verdicts]]:
    """The verdicts of each of several tasks; it takes little longer than those of one."""
    rules = [
        [rule for rubric in rubrics.values() for rule in map(_rule, rubric.criteria) if rule] for rubrics, _ in tasks
    ]
    values = evaluator.values_of([(asked, measured) for asked, (_, measured) in zip(rules, tasks, strict=True)])
    return [
        list(_verdicts(evaluator, rubrics, measured, iter(found), alone))
        for (rubrics, measured), found in zip(tasks, values, strict=True)
    ]


def _rule(criterion: Criterion) -> str | None:
    return criterion.rule if criterion.method == "rule" else None


def _verdicts(
    evaluator: RuleEvaluator,
    rubrics: Mapping[str, Rubric],
    measured: Measured,
    values: Iterator[tuple[float | None, ...]],
    alone: bool,
) -> Iterator[Verdicts]:
    """Verdicts by the values of the rules, in the order of the criteria that have one."""
    missing = {kind: [digest is None for digest in measured.column(CONTENT[kind]).to_pylist()] for kind in CONTENT}
    criteria = [(digest, rubric, item) for digest, rubric in rubrics.items() for item in rubric.criteria]
    for digest, rubric, criterion in criteria:
        absent, rule = missing[rubric.kind], _rule(criterion)
        if rule is None:
            if alone and criterion.method == "judge":
                yield _unjudged(digest, rubric, criterion, len(absent))
            continue
        found = next(values)
        failures = tuple(
            _MISSING[rubric.kind] if gone else _failure(value) for gone, value in zip(absent, found, strict=True)
        )
        kept = tuple(None if failure else value for value, failure in zip(found, failures, strict=True))
        names = evaluator.check(rule, rubric.kind, criterion.id)
        pointers = jsonio.dumps([f"fact:{name}" for name in sorted(names)])
        yield Verdicts(digest, criterion, rubric.kind, kept, failures, f"rule: {rule}", pointers)


def _failure(value: float | None) -> str | None:
    if value is None:
        return "null_rule"
    return None if 0.0 <= value <= 1.0 else "out_of_range"


def _unjudged(digest: str, rubric: Rubric, criterion: Criterion, rows: int) -> Verdicts:
    reason = f"method {criterion.method}: the builtin judge evaluates rules only"
    return Verdicts(digest, criterion, rubric.kind, (None,) * rows, ("needs_judge",) * rows, reason, "[]")
