"""Measures a transcript."""

from __future__ import annotations

from typing import Any

from rubrics.facts.transcript_checks import measure_checks
from rubrics.facts.transcript_edits import measure_edits
from rubrics.facts.transcript_faults import measure_faults
from rubrics.facts.transcript_size import measure_talk
from rubrics.facts.transcript_view import view_transcript
from rubrics.facts.transcript_vocabulary import TRANSCRIPT_FACTS
from rubrics.records.patches import Patch
from rubrics.records.rollouts import Turn


def measure_transcript(turns: tuple[Turn, ...] | None, patch: Patch | None, exit_status: str | None) -> dict[str, Any]:
    """A value for every name in `TRANSCRIPT_FACTS`; all null without a transcript."""
    if turns is None:
        return {fact.name: None for fact in TRANSCRIPT_FACTS}
    view = view_transcript(turns, patch)
    return {**measure_talk(view), **measure_edits(view), **measure_checks(view), **measure_faults(view, exit_status)}
