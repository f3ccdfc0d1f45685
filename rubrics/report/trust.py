"""What is known of a rollout's honesty: what its audits found, and how its task's environment was prepared. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rubrics.report.wrapping import say, wrapped

_ORDER = {"confirmed": 0, "suspected": 1, "rejected": 2, "failed": 3}
RULES = "rules"


def audit_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What it all comes to (null: nothing audited the rollout) and every finding, with what became of it.

    `verdict` of a finding is confirmed, suspected, rejected (by the audit judge `rejected_by`; or this is that judge's
    own row) or failed (a judge that gave no verdict, `failure_class`).
    """
    hack = next((row["hack"] for row in rows if row["hack"] is not None), None)
    findings = [_finding(row) for row in rows if row["verdict"] != "none" or row["kind"] != "none"]
    worst: dict[str, int] = {}
    for finding in findings:
        worst[finding["kind"]] = min(worst.get(finding["kind"], 9), _ORDER[finding["verdict"]])
    findings.sort(key=lambda f: (worst[f["kind"]], f["kind"], f["source"] != RULES, f["source"]))
    return {"hack": hack, "sources": sorted({row["source"] for row in rows}), "findings": findings}


def _finding(row: Mapping[str, Any]) -> dict[str, Any]:
    if row["verdict"] is None:
        verdict = "failed"
    elif row["verdict"] == "none" or row["rejected_by"]:
        verdict = "rejected"
    else:
        verdict = row["verdict"]
    names = ("kind", "source", "rejected_by", "failure_class", "reason", "evidence")
    return {"verdict": verdict, **{name: row[name] for name in names}}


def environment_line(row: Mapping[str, Any] | None) -> str:
    """One sentence on the environment of the rollout's task."""
    if row is None:
        return "not prepared; `rubrics prepare` looks for what gives the answer away"
    where = ", ".join(str(item) for item in (row["backend"], row["image"]) if item)
    if row["clean"] is None:
        return f"not known whether clean ({where}): {row['failure_class']}: {row['detail']}"
    found = f"{row['findings']} routes to the answer found, {row['open']} left, {row['rounds']} passes"
    probe = (
        f"; {row['probe_model']} as a probe: {row['probe_result'] or 'did not come to look'}"
        if row["probe_model"]
        else ""
    )
    return f"{'clean' if row['clean'] else 'not clean'} ({where}): {found}{probe}"


def trust_lines(explained: Mapping[str, Any]) -> Iterator[str]:
    """Both as lines for a terminal."""
    audit = explained["audit"]
    if audit["hack"] is None:
        yield "Audit: none has looked; run `rubrics audit`"
    else:
        yield f"Audit: {audit['hack']} (by {say(', '.join(audit['sources']))})"
    for finding in audit["findings"]:
        by = f", rejected by {say(finding['rejected_by'])}" if finding["rejected_by"] else ""
        yield f"  {finding['verdict']:<9}  {say(finding['kind'])} ({say(finding['source'])}{by})"
        if finding["failure_class"]:
            yield from wrapped(f"no verdict: {finding['failure_class']}", 13)
        yield from wrapped(str(finding["reason"] or ""), 13)
        for pointer in finding["evidence"]:
            yield from wrapped(pointer, 15)
    yield ""
    yield from wrapped(f"Environment: {environment_line(explained['environment'])}", 0)
