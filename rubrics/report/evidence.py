"""Evidence of a verdict: pointers resolved to what was measured, and to places in the patch. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rubrics.facts.diffs import parse_patch
from rubrics.facts.paths import Kind, kind_of
from rubrics.records.patches import FileChange
from rubrics.report.numbers import number
from rubrics.visible import shortened

ITEMS = 5
ITEM_WIDTH = 60
DIGITS = 4
"""Decimals of a measured value as text."""
_ABOUT: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    ("test", ("test_", "tests_weakened", "existing_tests")),
    ("scratch", ("scratch_",)),
    ("artefact", ("build_artifacts",)),
    ("docs", ("docs_",)),
    ("lock", ("lockfiles",)),
    ("source", ("files_beyond", "files_edited", "functions_", "source_", "debug_prints", "exceptions_")),
)
"""Which kind of changed file a fact with such a name is about."""


def resolved(pointer: str, measured: Mapping[str, Any]) -> dict[str, Any]:
    """A pointer with the measured value and that value as short text; both null for other pointers."""
    name = pointer.removeprefix("fact:")
    if not pointer.startswith("fact:") or name not in measured:
        return {"pointer": pointer, "name": None, "value": None, "shown": None}
    value = measured[name]
    return {"pointer": pointer, "name": name, "value": _cut(value), "shown": shown(value)}


def shown(value: Any) -> str:
    """A measured value in a few words: a long list is its first items and its length."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(round(value, DIGITS))
    if isinstance(value, str):
        return shortened(value, ITEM_WIDTH)
    listed = ", ".join(shortened(item, ITEM_WIDTH) for item in value[:ITEMS])
    return f"{listed}, ... ({len(value)} in all)" if len(value) > ITEMS else listed or "none"


def _cut(value: Any) -> Any:
    if not isinstance(value, list) or len(value) <= ITEMS:
        return value
    return [*value[:ITEMS], f"... and {len(value) - ITEMS} more"]


def patch_summary(patch: str | None) -> dict[str, Any] | None:
    """Files of the patch with lines added and removed and the first changed line; null without a patch."""
    if patch is None:
        return None
    parsed = parse_patch(patch)
    return {"files": [_file(file) for file in parsed.files], "malformed": list(parsed.malformed)}


def _file(file: FileChange) -> dict[str, Any]:
    changed = [line for hunk in file.hunks for line in hunk.lines if line.kind != "kept"]
    added = sum(line.kind == "added" for line in changed)
    return {
        "path": file.path,
        "change": file.change,
        "kind": kind_of(file.path, file.change == "added"),
        "added": added,
        "removed": len(changed) - added,
        "line": changed[0].number if changed else None,
    }


def places(evidence: Iterable[Mapping[str, Any]], patch: Mapping[str, Any] | None) -> list[str]:
    """`patch:path:line` of the changed files that the measurements are about; none where that cannot be told."""
    names = [item["name"] for item in evidence if item["name"] and item["value"]]
    kinds = {kind for kind, starts in _ABOUT for name in names if name.startswith(starts)}
    files = [file for file in (patch["files"] if patch else ()) if file["kind"] in kinds]
    found = [f"patch:{f['path']}" + (f":{f['line']}" if f["line"] is not None else "") for f in files]
    return found if len(found) <= ITEMS else [*found[:ITEMS], f"... and {len(found) - ITEMS} files more"]
