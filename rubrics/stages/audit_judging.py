"""Suspicions of a chunk put before the audit judge, and its opinions as rows of `audits`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from rubrics import __version__, jsonio
from rubrics.audit.material import Material
from rubrics.audit.model_cases import SUSPECT, Attempt, Case, Suspicion, suspicion_digest, version
from rubrics.audit.model_judge import AuditJudge, Opinion
from rubrics.records.census import CensusLine
from rubrics.records.judgements import Pointer
from rubrics.records.tasks import Task
from rubrics.stages.task_records import task_records
from rubrics.store.chunks import Output
from rubrics.store.store import Store

if TYPE_CHECKING:
    from rubrics.models.client import Client

Rows = Sequence[Mapping[str, Any]]
VERDICTS = {"confirmed": "confirmed", "rejected": "none", "unclear": "suspected"}


class Judging:
    """The audit judge of a stage run, used by chunks in several threads."""

    def __init__(self, store: Store, client: Client, room: int) -> None:
        self._store = store
        self._client = client
        self._judge = AuditJudge(client, room)
        self.source = self._judge.source

    def cases(
        self, task_id: str, rows: Rows, group: Sequence[Material], found: dict[str, list[dict[str, Any]]]
    ) -> list[Case]:
        """The suspected attempts of a task: `found` by rules now, and by others before."""
        where = "task_id = $task AND source NOT IN ($rules, $mine)"
        for row in self._store.rows("audits", where=where, task=task_id, rules="rules", mine=self.source):
            found.setdefault(row["rollout_id"], []).append(row)
        known = task_records(self._store, [task_id]).get(task_id)
        turns = {material.rollout_id: material.turns for material in group}
        attempts = [Attempt(row["rollout_id"], row["patch"], turns[row["rollout_id"]]) for row in rows]
        return suspects(known[0] if known else Task(task_id, None, None, None), attempts, found)

    def rows(self, listed: Sequence[Case], out: Output) -> Iterator[dict[str, Any]]:
        """What the judge says of the cases, as rows of `audits`; several are judged at once."""
        works: list[Callable[[], Any]] = [partial(self._judge.judge, case) for case in listed]
        for opinion in self._client.run_all(works):
            yield from opinion_rows(opinion, self.source)
            for item in opinion.decided:
                kind, detail = f"judge_{item.decision}", "suspicions that the judge decided"
                out.note(CensusLine("audit", "rollout", kind, opinion.case.task.task_id, detail, 1))
            if opinion.failure_class:
                detail = "suspected rollouts of which the judge gave no verdict: they stay as they were"
                place = opinion.case.task.task_id
                out.note(CensusLine("audit", "rollout", opinion.failure_class, place, detail, 1))


def suspects(task: Task, attempts: Sequence[Attempt], found: Mapping[str, Rows]) -> list[Case]:
    """A case for every attempt that is suspected and not yet confirmed; `found`: rows of `audits` by rollout."""
    made = []
    for attempt in attempts:
        rows = [row for row in found.get(attempt.rollout_id, ()) if has_evidence(row)]
        suspected = [row for row in rows if row["verdict"] == "suspected"]
        if suspected and not any(row["verdict"] == "confirmed" for row in rows):
            others = tuple(item for item in attempts if item is not attempt)
            made.append(Case(task, attempt, suspicions(suspected), others))
    return made


def has_evidence(row: Mapping[str, Any]) -> bool:
    """A finding without evidence is none."""
    return (row["evidence"] or "").strip() not in ("", "[]", "{}")


def suspicions(rows: Rows) -> tuple[Suspicion, ...]:
    """One per pattern, whoever raised it."""
    kinds = sorted({row["kind"] for row in rows})
    return tuple(_suspicion(kind, [row for row in rows if row["kind"] == kind]) for kind in kinds)


def _suspicion(kind: str, rows: Rows) -> Suspicion:
    ordered = sorted(rows, key=lambda row: str(row["source"]))
    places = [place for row in ordered for place in _places(row["evidence"])]
    return Suspicion(
        kind,
        tuple(row["source"] for row in ordered),
        tuple(dict.fromkeys(places)),
        tuple(row["reason"] or "" for row in ordered),
        tuple(suspicion_digest(row["source"], row["evidence"], row["reason"]) for row in ordered),
    )


def _places(evidence: str) -> list[str]:
    found = jsonio.loads(evidence)
    listed = found if isinstance(found, list) else []
    return [str(item.get("place")) if isinstance(item, dict) else str(item) for item in listed]


def opinion_rows(opinion: Opinion, source: str) -> Iterator[dict[str, Any]]:
    """One row per suspicion: confirmed, rejected (`none`), still suspected, or null and why."""
    case = opinion.case
    said = {item.finding: item for item in opinion.decided}
    for name, suspicion in case.ids.items():
        common = {
            "rollout_id": case.suspect.rollout_id, "task_id": case.task.task_id, "source": source,
            "kind": suspicion.kind, "about": list(suspicion.about), "prompt_digest": version(),
            "code_version": __version__,
        }  # fmt: skip
        decided = said.get(name)
        if decided is None:
            failure = {"failure_class": opinion.failure_class or "no_verdict", "reason": opinion.detail}
            yield {**common, **failure, "verdict": None, "evidence": "[]"}
            continue
        evidence = jsonio.dumps(list(_pointers(case, decided.evidence, decided.decision == "confirmed")))
        yield {**common, "verdict": VERDICTS[decided.decision], "evidence": evidence, "reason": decided.reason}


def _pointers(case: Case, evidence: Sequence[Pointer], own_only: bool) -> Iterator[dict[str, str]]:
    """Places of the suspect's as everywhere in `audits`, of others behind their rollout's id."""
    for pointer in evidence:
        label, _, place = pointer.place.partition(":")
        if label == SUSPECT:
            yield {"place": place, "quote": pointer.quote}
        elif not own_only:
            yield {"place": f"{case.labels[label].rollout_id}:{place}", "quote": pointer.quote}
