"""Reads what explanations are made of: a few queries for any number of rollouts, no transcript."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rubrics import jsonio
from rubrics.contrasts.vocabulary import CONTRASTS
from rubrics.facts.vocabulary import FACTS
from rubrics.records.outcomes import Outcome
from rubrics.store.store import Store

Rows = list[dict[str, Any]]

_ROLLOUTS = """
    SELECT rollouts.*, rewards.* EXCLUDE (task_id, group_id, rollout_id, source_group, source_id, run, attempt,
           policy, policy_step, transcript_digest), rewards.rollout_id IS NOT NULL AS rewarded,
           from_json(reward_configs.content::JSON -> '$.factors', '["VARCHAR"]') AS factors
    FROM rollouts LEFT JOIN rewards ON rewards.rollout_id = rollouts.rollout_id
    LEFT JOIN reward_configs ON reward_configs.config_digest = rewards.config_digest
    WHERE rollouts.rollout_id IN (SELECT unnest($ids))
    ORDER BY rollouts.task_id, rollouts.group_id, rollouts.run, rollouts.attempt, rollouts.rollout_id
"""
_GROUPS = """
    SELECT group_id, list(reward ORDER BY rollout_id) AS rewards FROM rewards
    WHERE reward IS NOT NULL AND group_id IN (SELECT group_id FROM rollouts WHERE rollout_id IN (SELECT unnest($ids)))
    GROUP BY group_id
"""
_OUTCOMES = """
    SELECT rollout_id, source, outcome, detail FROM outcomes WHERE rollout_id IN (SELECT unnest($ids))
    ORDER BY rollout_id, source
"""
_VERDICTS = """
    SELECT grades.rollout_id, grades.kind, criterion_id,
           CASE WHEN count(value) = count(*) THEN median(value) END AS value,
           min(grades.failure_class) FILTER (WHERE value IS NULL) AS failure_class,
           arg_min(reason, repeat) AS reason, arg_min(evidence, repeat) AS evidence, count(*) AS repeats
    FROM grades JOIN rewards ON rewards.rollout_id = grades.rollout_id AND rewards.judge = grades.judge
     AND rubric_digest IN (solution_rubric, behavior_rubric)
    WHERE grades.rollout_id IN (SELECT unnest($ids))
    GROUP BY grades.rollout_id, grades.kind, criterion_id
"""
_RUBRICS = """
    SELECT * FROM rubrics WHERE task_id IN (SELECT task_id FROM rollouts WHERE rollout_id IN (SELECT unnest($ids)))
    ORDER BY task_id, kind DESC
"""
_MEASURED = """
    SELECT facts.rollout_id, {columns}
    FROM facts LEFT JOIN rewards ON rewards.rollout_id = facts.rollout_id
    LEFT JOIN rubrics ON rubrics.rubric_digest = coalesce(solution_rubric, behavior_rubric)
    LEFT JOIN contrasts ON contrasts.rollout_id = facts.rollout_id AND contrasts.study_digest = rubrics.study_digest
    WHERE facts.rollout_id IN (SELECT unnest($ids))
"""
_AUDITS = """
    SELECT audits.rollout_id, audits.source, audits.kind, audits.verdict, audits.failure_class, audits.reason,
           audits.evidence, rejected_by, hack
    FROM audits
    LEFT JOIN audit_findings ON audit_findings.rollout_id = audits.rollout_id AND audit_findings.kind = audits.kind
     AND audit_findings.source = audits.source
    LEFT JOIN audit_verdicts ON audit_verdicts.rollout_id = audits.rollout_id
    WHERE audits.rollout_id IN (SELECT unnest($ids))
    ORDER BY audits.rollout_id, audits.source, audits.kind
"""
_ENVIRONMENTS = """
    SELECT task_id, image, backend, clean, findings, "open", rounds, failure_class, detail,
           probe_model, probe_result
    FROM environments
    WHERE task_id IN (SELECT task_id FROM rollouts WHERE rollout_id IN (SELECT unnest($ids)))
"""
_COLUMNS = {
    fact.name: f'{table}."{fact.name}"'
    for table, facts in (("facts", FACTS), ("contrasts", CONTRASTS))
    for fact in facts
}


@dataclass(frozen=True, slots=True)
class Material:
    """Rows of some rollouts and what they rest on."""

    rollouts: Rows
    """Rollout and reward columns together; `rewarded` says whether the reward table has a row, `factors`
    which scores its configuration multiplies."""
    groups: dict[str, list[float]]
    """Valid rewards of each group."""
    outcomes: dict[str, list[Outcome]]
    verdicts: dict[tuple[str, str], dict[str, dict[str, Any]]]
    """By rollout and kind: criterion id to verdict, of the rubric and judge that the reward read."""
    rubrics: dict[str, dict[str, Any]]
    """By digest: the row, with `criteria` parsed."""
    measured: dict[str, dict[str, Any]]
    """By rollout: the facts and contrasts that some verdict points to."""
    audits: dict[str, Rows]
    """By rollout: what each auditor said, with what all of it comes to."""
    environments: dict[str, dict[str, Any]]
    """By task: how its environment was prepared."""


def read(store: Store, ids: Sequence[str]) -> Material:
    """Everything about these rollouts, whatever their number, in eight queries."""

    def ask(query: str) -> Rows:
        return list(store.query(query, {"ids": list(ids)}).to_pylist())

    verdicts: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in ask(_VERDICTS):
        row["evidence"] = pointers(row["evidence"])
        verdicts.setdefault((row["rollout_id"], row["kind"]), {})[row["criterion_id"]] = row
    outcomes: dict[str, list[Outcome]] = {}
    for row in ask(_OUTCOMES):
        outcomes.setdefault(row["rollout_id"], []).append(Outcome(**row))
    audits: dict[str, Rows] = {}
    for row in ask(_AUDITS):
        audits.setdefault(row["rollout_id"], []).append({**row, "evidence": pointers(row["evidence"])})
    names = sorted({name for found in verdicts.values() for row in found.values() for name in _facts(row["evidence"])})
    columns = ", ".join(_COLUMNS[name] for name in names)
    return Material(
        rollouts=ask(_ROLLOUTS),
        groups={row["group_id"]: row["rewards"] for row in ask(_GROUPS)},
        outcomes=outcomes,
        verdicts=verdicts,
        rubrics={row["rubric_digest"]: {**row, "criteria": jsonio.loads(row["content"])} for row in ask(_RUBRICS)},
        measured={row["rollout_id"]: row for row in ask(_MEASURED.format(columns=columns))} if names else {},
        audits=audits,
        environments={row["task_id"]: row for row in ask(_ENVIRONMENTS)},
    )


def chunks(store: Store, size: int) -> Iterator[list[str]]:
    """All rollout ids in the order of task and group, cut into lists of `size`."""
    table = store.query("SELECT rollout_id FROM rollouts ORDER BY task_id, group_id, run, attempt, rollout_id")
    ids: list[str] = table.column("rollout_id").to_pylist()
    for start in range(0, len(ids), size):
        yield ids[start : start + size]


def pointers(text: str | None) -> list[str]:
    """The evidence pointers of a stored verdict, with what they quote; none when the text is not a JSON list."""
    try:
        found = jsonio.loads(text or "[]")
    except ValueError:
        return []
    return [_pointer(item) for item in found] if isinstance(found, list) else []


def _pointer(item: Any) -> str:
    if isinstance(item, dict) and "place" in item:
        return f"{item['place']}: {item['quote']}" if item.get("quote") else str(item["place"])
    return str(item)


def _facts(evidence: Iterable[str]) -> Iterator[str]:
    names = (pointer.removeprefix("fact:") for pointer in evidence if pointer.startswith("fact:"))
    return (name for name in names if name in _COLUMNS)
