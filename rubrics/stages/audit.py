"""Audit: every rollout looked at for leaks of the answer and gaming of the grader, task by task.

Rules look at all; where a model is given, it judges what they and others suspect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rubrics import __version__, jsonio
from rubrics.audit.audit import audit_group
from rubrics.audit.findings import Finding, verdict_of
from rubrics.audit.material import Material, TaskFacts
from rubrics.audit.model_cases import Case
from rubrics.facts.diffs import parse_patch
from rubrics.records import transcripts
from rubrics.records.census import CensusLine
from rubrics.stages.audit_judging import Judging
from rubrics.stages.jobs import code_digest
from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk
from rubrics.stages.tasks import by_task, task_chunks
from rubrics.store.chunks import Done, Output
from rubrics.store.commit import StageRun
from rubrics.store.scored import audits_of_others, hidden_tests, inputs_of, remember, up_to_date
from rubrics.store.store import Store

if TYPE_CHECKING:
    from rubrics.models.client import Client

SOURCE = "rules"
CLEAN = "none"
"""`kind` of the one row of a rollout in which nothing was found."""


class Audit:
    """Rows of `audits` by the rules, and by the judge that asks `client` where there is one, of the chosen tasks; those
    of other auditors and tasks stay. A rejection names what it rejects, so it holds for nothing that is found later."""

    name = "audit"
    reads = ("tasks", "sealed", "rollouts", "transcripts", "audits")

    def __init__(self, store: Store, options: Options, client: Client | None = None) -> None:
        self._store = store
        self._judging = Judging(store, client, options.room) if client else None
        self._sources = (SOURCE, self._judging.source) if self._judging else (SOURCE,)
        self._auditor = "+".join(self._sources)
        self._options = options

    @cached_property
    def _chunks(self) -> list[Chunk]:
        """Not asked for in other processes, which only do chunks."""
        left_out = up_to_date(self._store, self._auditor, self._inputs)
        return list(task_chunks(self._store, self._options, left_out))

    @cached_property
    def _inputs(self) -> dict[str, str]:
        """By task, a digest of what its audit rests on."""
        hidden = hidden_tests(self._store)
        others = audits_of_others(self._store, self._sources) if self._judging else {}
        settings = jsonio.dumps([code_digest(), self._options.room if self._judging else None])
        return inputs_of(self._store, settings, lambda task_id: (hidden.get(task_id), others.get(task_id)))

    @property
    def apart(self) -> bool:
        """Without a judge it can be done in other processes."""
        return self._judging is None

    def chunks(self) -> Iterable[Chunk]:
        return self._chunks

    def lasting_census(self) -> tuple[str, dict[str, Any]]:
        """Lines about tasks that are not audited again stay."""
        return "place <> '' AND place NOT IN (SELECT unnest($tasks))", {"tasks": self._tasks()}

    def _tasks(self) -> list[str]:
        return [task_id for chunk in self._chunks for task_id in chunk.items]

    def work(self, out: Output, chunk: Chunk) -> int:
        query = """
            SELECT rollout_id, task_id, patch, turns
            FROM (SELECT * FROM rollouts WHERE task_id IN (SELECT unnest($tasks)))
            LEFT JOIN transcripts USING (transcript_digest, task_id) ORDER BY task_id, rollout_id
        """
        groups = by_task(self._store.query(query, {"tasks": list(chunk.items)}).to_pylist())
        tasks = self._facts(chunk.items)
        suspects: list[Case] = []
        for task_id, rows in groups.items():
            group = [_material(row, tasks.get(task_id, TaskFacts(task_id))) for row in rows]
            found: dict[str, list[dict[str, Any]]] = {}
            for material, findings in zip(group, audit_group(group), strict=True):
                read = material.patch is not None or bool(material.turns)
                if read:
                    found[material.rollout_id] = list(audit_rows(material.rollout_id, task_id, findings))
                    out.append("audits", found[material.rollout_id])
                _count(out, task_id, findings, read)
            if self._judging:
                suspects += self._judging.cases(task_id, rows, group, found)
        said = list(self._judging.rows(suspects, out)) if self._judging else []
        out.append("audits", said)
        again = {row["task_id"] for row in said if row.get("failure_class")}
        out.keep("whole", [task_id for task_id in chunk.items if task_id not in again])
        return chunk.rollouts

    def _facts(self, task_ids: tuple[str, ...]) -> dict[str, TaskFacts]:
        """Tasks with the lines of their hidden tests: sealed text, which the audit may compare with."""
        where = "task_id IN (SELECT unnest($tasks))"
        rows = self._store.rows("tasks", where=where, tasks=list(task_ids))
        sealed = self._store.rows("sealed", ["task_id", "test_patch"], where=where, tasks=list(task_ids))
        hidden = {row["task_id"]: hidden_lines(row["test_patch"]) for row in sealed}
        return {row["task_id"]: _task_facts(row, hidden.get(row["task_id"])) for row in rows}

    def finish(self, run: StageRun, done: Sequence[Done]) -> None:
        tasks = self._tasks()
        mine = "source IN (SELECT unnest($mine)) AND task_id IN (SELECT unnest($tasks))"
        run.carry("audits", mine, mine=list(self._sources), tasks=tasks)
        whole = [task_id for item in done for task_id in item.kept["whole"]]
        remember(run, self._auditor, tasks, whole, self._inputs)


def _count(out: Output, task_id: str, findings: Sequence[Finding], read: bool) -> None:
    if not read:
        detail = "neither patch nor transcript: nothing to audit"
        out.note(CensusLine(Audit.name, "rollout", "unaudited", task_id, detail, 1))
        return
    level = verdict_of(findings)
    out.note(CensusLine(Audit.name, "rollout", f"hack_{level}", task_id, f"audited rollouts: {level}", 1))
    for item in findings:
        out.note(
            CensusLine(Audit.name, "rollout", item.pattern, task_id, f"rollouts with this finding, {item.level}", 1)
        )


def hidden_lines(test_patch: str | None) -> str | None:
    """The lines that a test patch adds, joined by newlines."""
    if test_patch is None:
        return None
    files = parse_patch(test_patch).files
    lines = (line for file in files for hunk in file.hunks for line in hunk.lines)
    return "\n".join(line.text for line in lines if line.kind == "added")


def audit_rows(rollout_id: str, task_id: str, findings: Iterable[Finding]) -> Iterator[dict[str, Any]]:
    """Rows of `audits`: one per pattern found, or one that says that there was none."""
    common = {"rollout_id": rollout_id, "task_id": task_id, "source": SOURCE, "code_version": __version__}
    listed = list(findings)
    for finding in listed:
        evidence = jsonio.dumps(list(finding.evidence))
        reason = f"{finding.detail}: {finding.quote}"
        yield {**common, "kind": finding.pattern, "verdict": finding.level, "evidence": evidence, "reason": reason}
    if not listed:
        yield {**common, "kind": CLEAN, "verdict": CLEAN, "evidence": "", "reason": "nothing found"}


def _task_facts(row: dict[str, Any], hidden: str | None) -> TaskFacts:
    tests = tuple(row["fail_to_pass"] or ()), tuple(row["pass_to_pass"] or ())
    return TaskFacts(row["task_id"], row["repo"], row["base_commit"], row["spec"], *tests, hidden)


def _material(row: dict[str, Any], task: TaskFacts) -> Material:
    turns = () if row["turns"] is None else transcripts.from_json(row["turns"])
    patch = None if row["patch"] is None else parse_patch(row["patch"])
    return Material(row["rollout_id"], task, patch, turns)
