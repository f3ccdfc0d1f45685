"""Where the attempts to study come from: the store itself, or other dumps (`--study-from`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from rubrics.facts.measure import measure
from rubrics.ingest.read import ingest
from rubrics.outcomes import choose
from rubrics.records import transcripts
from rubrics.records.outcomes import Outcome
from rubrics.records.rollouts import Rollout
from rubrics.stages.judging import statuses
from rubrics.stages.options import Options
from rubrics.stages.study import Candidate
from rubrics.stages.task_records import rollout_records
from rubrics.stages.tasks import by_task
from rubrics.store.store import Store

Attempts = dict[str, dict[Candidate, Mapping[str, Any]]]
"""Per task: each candidate with its facts."""
_CONTENTS = """
    SELECT chosen.rollout_id, transcripts.turns, outcomes.tests
    FROM (SELECT * FROM chosen_outcomes WHERE rollout_id IN (SELECT unnest($ids))) AS chosen
    LEFT JOIN outcomes USING (rollout_id, source) JOIN rollouts ON rollouts.rollout_id = chosen.rollout_id
    LEFT JOIN transcripts ON transcripts.transcript_digest = rollouts.transcript_digest
      AND transcripts.task_id = rollouts.task_id
"""


Opened = dict[str, tuple[Rollout, str | None]]
"""Per rollout_id: the rollout with its transcript, and ids and statuses of its tests, one a line (null: none known)."""


class StudySource(Protocol):
    def attempts(self, task_ids: Iterable[str]) -> Attempts:
        """Candidates of the named tasks; a task without any has an empty entry."""

    def opened(self, rollout_ids: Iterable[str]) -> Opened:
        """Candidates with their contents, for an author that reads them."""


class StoreSource:
    """The attempts in the store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def attempts(self, task_ids: Iterable[str]) -> Attempts:
        ids = list(task_ids)
        named = "task_id IN (SELECT unnest($ids))"
        query = f"SELECT rollout_id, outcome FROM chosen_outcomes WHERE {named}"
        outcomes = {row["rollout_id"]: row["outcome"] for row in self._store.query(query, {"ids": ids}).to_pylist()}
        found: Attempts = {task_id: {} for task_id in ids}
        for task_id, rows in by_task(self._store.rows("facts", where=named, ids=ids)).items():
            found[task_id] = {_candidate(row["rollout_id"], outcomes[row["rollout_id"]], row): row for row in rows}
        return found

    def opened(self, rollout_ids: Iterable[str]) -> Opened:
        ids = list(rollout_ids)
        rows = self._store.query(_CONTENTS, {"ids": ids}).to_pylist()
        more = {row["rollout_id"]: (row["turns"], row["tests"]) for row in rows}
        found: Opened = {}
        for rollout in rollout_records(self._store, ids):
            turns, tests = more[rollout.rollout_id]
            read = replace(rollout, turns=None if turns is None else transcripts.from_json(turns))
            found[rollout.rollout_id] = read, statuses(tests)
        return found


class DumpSource:
    """Attempts of other dumps: measured and studied, never scored."""

    def __init__(self, options: Options) -> None:
        facts: dict[str, dict[str, Any]] = {}
        outcomes: dict[str, list[Outcome]] = {}
        self._rollouts: dict[str, Rollout] = {}
        self._tests: dict[str, str | None] = {}
        for record in ingest(
            [Path(dump) for dump in options.study_from], options.group_by, trust_recorded=options.trust_recorded
        ):
            if isinstance(record, Rollout):
                measured = measure(record.patch, record.turns, record.exit_status)
                facts[record.rollout_id] = {"task_id": record.task_id, **measured}
                if options.author != "builtin":
                    self._rollouts[record.rollout_id] = record
            elif isinstance(record, Outcome):
                outcomes.setdefault(record.rollout_id, []).append(record)
        self._found: Attempts = {}
        for rollout_id, row in facts.items():
            said = outcomes.get(rollout_id, [])
            chosen = choose(said)
            outcome = chosen.outcome
            self._tests[rollout_id] = next((item.tests for item in said if item.source == chosen.source), None)
            self._found.setdefault(row.pop("task_id"), {})[_candidate(rollout_id, outcome, row)] = row

    def attempts(self, task_ids: Iterable[str]) -> Attempts:
        return {task_id: self._found.get(task_id, {}) for task_id in task_ids}

    def opened(self, rollout_ids: Iterable[str]) -> Opened:
        return {item: (self._rollouts[item], statuses(self._tests[item])) for item in rollout_ids}


def _candidate(rollout_id: str, outcome: str, facts: Mapping[str, Any]) -> Candidate:
    return Candidate(rollout_id, outcome, facts["patch_normal_digest"], not facts["lines_changed"])
