"""The embedded judge: rule criteria of one task, evaluated over all its rollouts in one query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rubrics import jsonio
from rubrics.contrasts.measure import CONTENT
from rubrics.records.rubrics import Criterion, Kind, Rubric
from rubrics.records.verdicts import Verdicts
from rubrics.rules.evaluate import Measured, RuleEvaluator

NAME = "builtin"
_MISSING: Mapping[Kind, str] = {"solution": "no_patch", "behavior": "no_transcript"}


def judge(
    evaluator: RuleEvaluator, rubrics: Mapping[str, Rubric], measured: Measured, alone: bool = True
) -> Iterator[Verdicts]:
    """Verdicts for every criterion of the given rubrics (keyed by digest), one row of `measured` per rollout.

    A value is null, with a class, where the rollout lacks the rubric's evidence (`no_patch`,
    `no_transcript`), the rule says null (`null_rule`), the rule leaves [0, 1] (`out_of_range`), or the
    criterion is for a judge (`needs_judge`); the latter are left out where there is one (not `alone`). Criteria of
    method `run` are left out: see `runs.py`.
    """
    criteria = [(digest, rubric, item) for digest, rubric in rubrics.items() for item in rubric.criteria]
    rules = [item.rule for _, _, item in criteria if item.method == "rule" and item.rule is not None]
    rows = iter(zip(*evaluator.values(rules, measured), strict=True))
    missing = {kind: [digest is None for digest in measured.column(CONTENT[kind]).to_pylist()] for kind in CONTENT}
    for digest, rubric, criterion in criteria:
        absent = missing[rubric.kind]
        if criterion.method != "rule" or criterion.rule is None:
            if alone and criterion.method == "judge":
                yield _unjudged(digest, rubric, criterion, len(absent))
            continue
        found = next(rows, ())
        failures = tuple(
            _MISSING[rubric.kind] if gone else _failure(value) for gone, value in zip(absent, found, strict=True)
        )
        values = tuple(None if failure else value for value, failure in zip(found, failures, strict=True))
        names = evaluator.check(criterion.rule, rubric.kind, criterion.id)
        pointers = jsonio.dumps([f"fact:{name}" for name in sorted(names)])
        yield Verdicts(digest, criterion, rubric.kind, values, failures, f"rule: {criterion.rule}", pointers)


def _failure(value: float | None) -> str | None:
    if value is None:
        return "null_rule"
    return None if 0.0 <= value <= 1.0 else "out_of_range"


def _unjudged(digest: str, rubric: Rubric, criterion: Criterion, rows: int) -> Verdicts:
    reason = f"method {criterion.method}: the builtin judge evaluates rules only"
    return Verdicts(digest, criterion, rubric.kind, (None,) * rows, ("needs_judge",) * rows, reason, "[]")
