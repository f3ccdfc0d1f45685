"""Rollouts put before a judge that asks a model: the cases of a chunk, and what came of them as rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from rubrics import __version__, jsonio
from rubrics.records import transcripts
from rubrics.records.judgements import Case, Judgement, Verdict
from rubrics.records.rollouts import Rollout
from rubrics.records.rubrics import Criterion, Kind, Rubric
from rubrics.records.tasks import Task
from rubrics.rules.digest import rubric_digest
from rubrics.stages.options import Options
from rubrics.stages.task_records import task_records
from rubrics.store.store import Store
from rubrics.visible import one_line

NOT_JUDGED = "not_judged"
_FIELDS = tuple(field.name for field in fields(Rollout) if field.name != "turns")
_ROLLOUTS = """
    SELECT rollouts.*, transcripts.turns, chosen_outcomes.outcome, outcomes.tests
    FROM (SELECT * FROM rollouts WHERE task_id IN (SELECT unnest($tasks))) AS rollouts
    LEFT JOIN transcripts USING (transcript_digest, task_id)
    LEFT JOIN chosen_outcomes ON chosen_outcomes.rollout_id = rollouts.rollout_id
    LEFT JOIN outcomes ON outcomes.rollout_id = rollouts.rollout_id AND outcomes.source = chosen_outcomes.source
    ORDER BY rollouts.task_id, rollouts.rollout_id
"""


def judged_rubrics(rubrics: Mapping[Kind, Rubric]) -> dict[Kind, Rubric]:
    """The rubrics that ask something of a judge."""
    return {kind: item for kind, item in rubrics.items() if any(asked(item))}


def asked(rubric: Rubric) -> tuple[Criterion, ...]:
    """The criteria that a judge answers."""
    return tuple(criterion for criterion in rubric.criteria if criterion.method == "judge")


def cases(store: Store, rubrics: Mapping[str, Mapping[Kind, Rubric]], options: Options) -> list[tuple[Case, bool]]:
    """Every rollout of the tasks whose rubrics ask a judge, once per repeat; and whether it is to be judged."""
    wanted = {task_id: found for task_id, each in rubrics.items() if (found := judged_rubrics(each))}
    if not wanted:
        return []
    records = task_records(store, list(wanted))
    listed = []
    for row in store.query(_ROLLOUTS, {"tasks": list(wanted)}).to_pylist():
        rollout = _rollout(row)
        task = records[rollout.task_id][0] if rollout.task_id in records else _bare(rollout.task_id)
        judged = not options.passes_only or row["outcome"] == "passed"
        said = statuses(row["tests"])
        rubric = wanted[rollout.task_id]
        listed += [(Case(task, rollout, rubric, said, repeat), judged) for repeat in range(options.repeats)]
    return listed


def _rollout(row: Mapping[str, Any]) -> Rollout:
    turns = None if row["turns"] is None else transcripts.from_json(row["turns"])
    return Rollout(**{name: row[name] for name in _FIELDS}, turns=turns)


def _bare(task_id: str) -> Task:
    return Task(task_id, None, None, None)


def statuses(tests: str | None) -> str | None:
    """Ids and statuses, one a line; never a log."""
    if not tests:
        return None
    return "\n".join(one_line(f"{status} {name}") for name, status in sorted(jsonio.loads(tests).items()))


def not_judged(case: Case, judge: str) -> Judgement:
    """The judgement of a rollout that was left out on purpose."""
    return Judgement(case.rollout.rollout_id, judge, case.repeat, (), None, NOT_JUDGED, "its tests did not pass")


def grade_rows(case: Case, judgement: Judgement) -> Iterator[dict[str, Any]]:
    """One row per criterion that was asked: a verdict, or null and why."""
    said = {(item.kind, item.criterion_id): item for item in judgement.verdicts}
    for kind, rubric in case.rubrics.items():
        common = {
            "rollout_id": judgement.rollout_id, "task_id": case.task.task_id, "kind": kind,
            "rubric_digest": rubric_digest(rubric), "judge": judgement.judge, "repeat": judgement.repeat,
            "judge_model": judgement.model, "prompt_digest": judgement.prompt_digest, "code_version": __version__,
        }  # fmt: skip
        missing = _missing(case.rollout, kind) or judgement.failure_class or "no_verdict"
        for item in asked(rubric):
            own = {"criterion_id": item.id, "weight": float(item.weight), "gate": item.gate}
            verdict = said.get((kind, item.id))
            yield {**common, **own, **(_said(verdict) if verdict else unsaid(missing, judgement.detail))}


def _missing(rollout: Rollout, kind: Kind) -> str | None:
    if kind == "solution":
        return "no_patch" if rollout.patch is None else None
    return "no_transcript" if rollout.turns is None else None


def _said(verdict: Verdict) -> dict[str, Any]:
    evidence = jsonio.dumps([{"place": item.place, "quote": item.quote} for item in verdict.evidence])
    return {"level": verdict.level, "value": verdict.value, "reason": verdict.reason, "evidence": evidence}


def unsaid(failure: str, detail: str) -> dict[str, Any]:
    """The columns of a grade without a verdict, and why."""
    return {"level": None, "value": None, "failure_class": failure, "reason": detail, "evidence": "[]"}


def judgement_row(case: Case, judgement: Judgement, sampling: str) -> dict[str, Any]:
    """What was asked and what it cost, as a row of `judgements`."""
    usage = judgement.usage
    return {
        "rollout_id": judgement.rollout_id, "task_id": case.task.task_id, "judge": judgement.judge,
        "repeat": judgement.repeat, "failure_class": judgement.failure_class, "detail": judgement.detail or None,
        "judge_model": judgement.model, "sampling": sampling, "prompt_digest": judgement.prompt_digest,
        "parts": list(judgement.parts), "rung": judgement.rung, "commands": list(judgement.commands),
        "calls": judgement.calls, "prompt_tokens": usage.prompt, "cached_tokens": usage.cached,
        "completion_tokens": usage.completion, "cost": judgement.cost, "seconds": judgement.seconds,
        "from_cache": judgement.from_cache, "code_version": __version__,
    }  # fmt: skip


def guard_source(judge: str) -> str:
    """`source` in `audits` of what a judge's guard question found."""
    return f"guard:{judge}"


def guard_row(case: Case, judgement: Judgement) -> dict[str, Any] | None:
    """A finding that the rollout speaks to whoever grades, as a row of `audits`; suspected, for an audit to decide."""
    if judgement.addressed is None:
        return None
    places = [item.place for item in judgement.addressed.evidence]
    quotes = " | ".join(item.quote for item in judgement.addressed.evidence)
    return {
        "rollout_id": judgement.rollout_id, "task_id": case.task.task_id, "source": guard_source(judgement.judge),
        "kind": "grader_addressed", "verdict": "suspected", "evidence": jsonio.dumps(places),
        "reason": f"{judgement.addressed.reason}: {quotes}", "prompt_digest": judgement.prompt_digest,
        "code_version": __version__,
    }  # fmt: skip
