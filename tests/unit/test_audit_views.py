"""How the findings of rules, judges and rankings come together: proof stands, a judge lifts suspicions only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rubrics.audit.model_cases import suspicion_digest
from rubrics.store.store import Store

RULES, AUDIT, OTHER, SCORE = "rules", "judge:m", "judge:n", "guard:single:m"
SEEN = '["patch:a:1"]'


def row(source: str, verdict: str | None, kind: str = "tests_weakened", evidence: str = SEEN) -> dict[str, Any]:
    """What a judge says is about the suspicions of rules and guard that these tests make."""
    failure = "not_json" if verdict is None else None
    about = [suspicion_digest(item, SEEN, "why") for item in (RULES, SCORE)] if source.startswith("judge:") else None
    said = {"source": source, "kind": kind, "verdict": verdict, "evidence": evidence, "reason": "why"}
    return {**said, "failure_class": failure, "about": about}


CLEAN = row(RULES, "none", "none", "")
REJECTED = row(AUDIT, "none", evidence="[]")
CASES = {
    "nothing audited it": ([], None),
    "only a judge that failed": ([row(AUDIT, None)], None),
    "nothing found": ([CLEAN], "none"),
    "a suspicion": ([row(RULES, "suspected")], "suspected"),
    "a suspicion without evidence": ([row(RULES, "suspected", evidence="[]")], "none"),
    "a suspicion that a judge rejects": ([row(RULES, "suspected"), REJECTED], "none"),
    "a suspicion found since": ([row(RULES, "suspected", evidence='["patch:a:2"]'), REJECTED], "suspected"),
    "a suspicion of another pattern": ([row(RULES, "suspected", "calls_counted"), REJECTED], "suspected"),
    "a suspicion that a judge confirms": ([row(RULES, "suspected"), row(AUDIT, "confirmed")], "confirmed"),
    "a confirmation without evidence": ([row(RULES, "suspected"), row(AUDIT, "confirmed", evidence="")], "suspected"),
    "proof that a judge rejects": ([row(RULES, "confirmed"), REJECTED], "confirmed"),
    "a judge that is not sure": ([row(RULES, "suspected"), row(AUDIT, "suspected")], "suspected"),
    "a judge that failed": ([row(RULES, "suspected"), row(AUDIT, None)], "suspected"),
    "judges that disagree": ([row(RULES, "suspected"), REJECTED, row(OTHER, "confirmed")], "confirmed"),
    "one judge rejects, one doubts": ([row(RULES, "suspected"), REJECTED, row(OTHER, "suspected")], "suspected"),
    "text to the grader": ([CLEAN, row(SCORE, "suspected", "grader_addressed")], "suspected"),
    "text to the grader, looked at": (
        [CLEAN, row(SCORE, "suspected", "grader_addressed"), row(AUDIT, "none", "grader_addressed")], "none",
    ),
    "a score judge rejects nothing": ([row(RULES, "suspected"), row(SCORE, "none")], "suspected"),
    "an audit judge's own none": ([row(RULES, "suspected", "none"), row(AUDIT, "none", "none")], "suspected"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_auditors_say_comes_to_one_verdict(tmp_path: Path, name: str) -> None:
    rows, wanted = CASES[name]
    store = Store.create(tmp_path / "store")
    with store.writing() as run:
        run.append("rollouts", [{"rollout_id": "r", "task_id": "t"}])
        run.append("audits", [{"rollout_id": "r", "task_id": "t", **item} for item in rows])
    said = store.query("SELECT hack FROM audit_verdicts").column("hack").to_pylist()
    assert said == ([] if wanted is None else [wanted])


def test_a_rejected_suspicion_names_the_judge(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    with store.writing() as run:
        run.append("rollouts", [{"rollout_id": "r", "task_id": "t"}])
        found = [row(RULES, "suspected"), row(RULES, "confirmed", "solution_copied"), REJECTED]
        run.append("audits", [{"rollout_id": "r", "task_id": "t", **item} for item in found])
    rows = store.query("SELECT kind, rejected_by FROM audit_findings").to_pylist()
    assert rows == [
        {"kind": "solution_copied", "rejected_by": None},
        {"kind": "tests_weakened", "rejected_by": AUDIT},
    ]
