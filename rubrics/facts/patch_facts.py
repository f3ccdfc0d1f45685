"""Measures a patch."""

from __future__ import annotations

from typing import Any

from rubrics.facts.diffs import parse_patch
from rubrics.facts.handling_facts import measure_handling
from rubrics.facts.leftover_facts import measure_leftovers
from rubrics.facts.name_facts import measure_names
from rubrics.facts.patch_vocabulary import PATCH_FACTS
from rubrics.facts.shape_facts import measure_shape
from rubrics.facts.size_facts import measure_size
from rubrics.facts.views import views
from rubrics.records.patches import Patch


def measure_patch(text: str | None) -> dict[str, Any]:
    """A value for every name in `PATCH_FACTS`; all null for an unknown patch."""
    return measure_parsed(None if text is None else parse_patch(text))


def measure_parsed(patch: Patch | None) -> dict[str, Any]:
    """As `measure_patch`, for a patch that is parsed already."""
    if patch is None:
        return {fact.name: None for fact in PATCH_FACTS}
    files = views(patch)
    return {
        **measure_size(files),
        **measure_shape(files),
        **measure_handling(files),
        **measure_leftovers(patch, files),
        **measure_names(patch, files),
    }
