"""What an export is made of: the kept groups of the reward table, their valid rows with prompt and completion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from rubrics.exports.carried.lookup import completion_digest
from rubrics.exports.messages import Message, conversation
from rubrics.records import transcripts
from rubrics.records.rollouts import Turn
from rubrics.store.store import Store

CHUNK_ROLLOUTS = 256
"""Rollouts whose transcripts are held at once; a larger group is held whole."""

_KEPT = "kept AND reward_star IS NOT NULL AND advantage IS NOT NULL"
_CHUNK = f"""
    WITH chosen AS (SELECT * FROM rewards WHERE {_KEPT} AND group_id IN (SELECT unnest($groups))),
    confirmed AS (
      SELECT rollout_id, list({{kind: kind, reason: reason, evidence: evidence}} ORDER BY source, kind) AS findings
      FROM audits
      WHERE verdict = 'confirmed' AND coalesce(evidence, '') NOT IN ('', '[]', '{{}}')
      GROUP BY rollout_id
    )
    SELECT
      chosen.*, rollouts.harness, rollouts.patch, rollouts.exit_status, tasks.spec, transcripts.turns,
      confirmed.findings
    FROM chosen
    JOIN rollouts USING (rollout_id)
    LEFT JOIN tasks ON tasks.task_id = chosen.task_id
    LEFT JOIN transcripts
      ON transcripts.transcript_digest = chosen.transcript_digest AND transcripts.task_id = chosen.task_id
    LEFT JOIN confirmed ON confirmed.rollout_id = chosen.rollout_id
    ORDER BY chosen.task_id, chosen.group_id, chosen.rollout_id
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """One rollout of a kept group."""

    row: Mapping[str, Any]
    """Its row of the reward table, with harness, patch and exit_status."""
    prompt: tuple[Message, ...]
    completion: tuple[Message, ...]
    prompt_source: str
    """`transcript`, `spec`, or `none`."""
    completion_source: str
    """`transcript`; `patch` where no transcript is stored; `none`."""
    turns: tuple[Turn, ...] | None
    places: Mapping[int, int]
    findings: tuple[Mapping[str, str | None], ...]
    """Confirmed audits with evidence: kind, reason, evidence."""

    @property
    def rollout_id(self) -> str:
        return str(self.row["rollout_id"])

    @property
    def reward(self) -> float:
        """reward_star: a trainer that subtracts the group's mean makes the stored advantage of it."""
        return float(self.row["reward_star"])

    @property
    def advantage(self) -> float:
        return float(self.row["advantage"])

    def lookup(self) -> dict[str, Any]:
        """The row of `lookup.jsonl` that carried modules read."""
        return {
            "rollout_id": self.rollout_id,
            "group_id": self.row["group_id"],
            "source_id": self.row["source_id"],
            "source_group": self.row["source_group"],
            "completion_digest": completion_digest(self.completion),
            "reward": self.reward,
            "advantage": self.advantage,
        }


@dataclass(frozen=True, slots=True)
class Group:
    group_id: str
    source_group: str | None
    number: int
    """Ordinal of the group in the export, from 0."""
    samples: tuple[Sample, ...]
    prompt: tuple[Message, ...]
    """The prompt that its rollouts share, else the task's spec, else that of the first."""


@dataclass(frozen=True, slots=True)
class Extent:
    """What will be exported, told before anything is read in full."""

    rows: int
    groups: int
    rewards: tuple[float, float]
    advantages: tuple[float, float]
    config_digests: tuple[str, ...]


def extent(store: Store) -> Extent:
    """How much is exported, and between which bounds."""
    (row,) = store.query(f"""
        SELECT count(*) AS n, count(DISTINCT group_id) AS groups,
               coalesce(min(reward_star), 0) AS low, coalesce(max(reward_star), 0) AS high,
               coalesce(min(advantage), 0) AS least, coalesce(max(advantage), 0) AS most,
               list_sort(list(DISTINCT config_digest) FILTER (WHERE config_digest IS NOT NULL)) AS configs
        FROM rewards WHERE {_KEPT}
    """).to_pylist()
    digests = tuple(row["configs"] or ())
    return Extent(row["n"], row["groups"], (row["low"], row["high"]), (row["least"], row["most"]), digests)


def groups(store: Store) -> Iterator[Group]:
    """Every kept group by task_id and group_id, its rollouts by rollout_id: the same store gives the same order."""
    number = 0
    for names in _chunks(store):
        rows = store.query(_CHUNK, {"groups": names}).to_pylist()
        for name, members in groupby(rows, key=lambda row: str(row["group_id"])):
            yield _group(name, number, list(members))
            number += 1


def _chunks(store: Store) -> Iterator[list[str]]:
    query = f"""
        SELECT group_id, count(*) AS n FROM rewards WHERE {_KEPT} GROUP BY task_id, group_id ORDER BY task_id, group_id
    """
    names: list[str] = []
    held = 0
    for row in store.query(query).to_pylist():
        if names and held + row["n"] > CHUNK_ROLLOUTS:
            yield names
            names, held = [], 0
        names.append(row["group_id"])
        held += row["n"]
    if names:
        yield names


def _group(name: str, number: int, rows: list[dict[str, Any]]) -> Group:
    members = tuple(_sample(row) for row in rows)
    prompts = {repr(sample.prompt) for sample in members}
    shared = members[0].prompt if len(prompts) == 1 else _spec_prompt(rows[0]["spec"]) or members[0].prompt
    return Group(name, rows[0]["source_group"], number, members, shared)


def _sample(row: dict[str, Any]) -> Sample:
    text, spec, findings = row.pop("turns"), row["spec"], tuple(row.pop("findings") or ())
    turns = None if text is None else transcripts.from_json(text)
    told = conversation(turns or ())
    prompt, prompt_source = told.prompt, "transcript"
    if not prompt:
        prompt = _spec_prompt(spec)
        prompt_source = "spec" if prompt else "none"
    completion, completion_source = told.completion, "transcript"
    if turns is None:
        patch = row["patch"]
        completion = ({"role": "assistant", "content": patch},) if patch else ()
        completion_source = "patch" if patch else "none"
    return Sample(row, prompt, completion, prompt_source, completion_source, turns, told.places, findings)


def _spec_prompt(spec: str | None) -> tuple[Message, ...]:
    return ({"role": "user", "content": spec},) if spec else ()
