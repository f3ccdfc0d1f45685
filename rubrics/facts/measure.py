"""The row of facts of one rollout."""

from __future__ import annotations

from typing import Any

from rubrics.facts.diffs import parse_patch
from rubrics.facts.patch_facts import measure_parsed
from rubrics.facts.transcript_facts import measure_transcript
from rubrics.records.rollouts import Turn


def measure(patch: str | None, turns: tuple[Turn, ...] | None, exit_status: str | None) -> dict[str, Any]:
    """A value for every name in `FACTS`. Never raises on any text."""
    parsed = None if patch is None else parse_patch(patch)
    return {**measure_parsed(parsed), **measure_transcript(turns, parsed, exit_status)}
